// SPDX-License-Identifier: Apache-2.0
#include "scenario/descriptors.h"
#include "scenario/study_members.h"

namespace wafervp {
namespace {

constexpr char kDialect[] = "https://json-schema.org/draft/2020-12/schema";

/// A patch may leave out what is required and may remove any member by null (RFC 7386).
enum class Use { kWhole, kPatch };

class SchemaWriter {
 public:
  explicit SchemaWriter(Use use) : use_(use) {}

  Json object(const DescriptorNode& node) const {
    Json schema = Json::object();
    set_type(schema, "object");
    Json required = Json::array();
    Json properties = Json::object();
    for (const DescriptorNode& child : node.children) {
      properties[child.name] = member(child);
      if (child.descriptor->required && use_ == Use::kWhole) required.push_back(child.name);
    }
    schema["properties"] = std::move(properties);
    if (!required.empty()) schema["required"] = std::move(required);
    schema["additionalProperties"] = false;
    return schema;
  }

 private:
  Json member(const DescriptorNode& node) const {
    const Descriptor& descriptor = *node.descriptor;
    Json schema = Json::object();
    schema["description"] = descriptor.documentation;
    if (!descriptor.unit.empty()) schema["unit"] = descriptor.unit;
    switch (descriptor.type) {
      case ValueType::kObject:
        schema.update(object(node));
        return schema;
      case ValueType::kBoolean:
        set_type(schema, "boolean");
        break;
      case ValueType::kInteger:
      case ValueType::kNumber:
        number(schema, descriptor, descriptor.type == ValueType::kInteger);
        break;
      case ValueType::kText:
        set_type(schema, "string");
        schema["maxLength"] = descriptor.most;
        break;
      case ValueType::kWord:
        schema["enum"] = descriptor.words;
        if (use_ == Use::kPatch) schema["enum"].push_back(nullptr);
        break;
      case ValueType::kIntegerList:
        set_type(schema, "array");
        schema["maxItems"] = descriptor.max_items;
        schema["items"] = element(descriptor, true);
        break;
      case ValueType::kIntegerMap:
      case ValueType::kNumberMap:
        set_type(schema, "object");
        schema["maxProperties"] = descriptor.max_items;
        if (descriptor.key == KeyKind::kNpu) schema["propertyNames"] = {{"pattern", "^(0|[1-9][0-9]{0,4})$"}};
        schema["additionalProperties"] = element(descriptor, descriptor.type == ValueType::kIntegerMap, use_);
        break;
      case ValueType::kRecordList:
        set_type(schema, "array");
        schema["maxItems"] = descriptor.max_items;
        // An array is replaced as a whole, so its items are whole in a patch too.
        schema["items"] = SchemaWriter(Use::kWhole).object(make_tree(descriptor.members));
        break;
      case ValueType::kPatch:
        schema["$ref"] = "#/$defs/patch";
        break;
      case ValueType::kNamed:
        set_type(schema, "object");
        break;
    }
    if (!descriptor.default_value.is_null()) schema["default"] = descriptor.default_value;
    return schema;
  }

  static Json element(const Descriptor& descriptor, bool is_integer, Use use = Use::kWhole) {
    Json schema = Json::object();
    SchemaWriter(use).number(schema, descriptor, is_integer);
    return schema;
  }

  void number(Json& schema, const Descriptor& descriptor, bool is_integer) const {
    set_type(schema, is_integer ? "integer" : "number");
    if (is_integer) {
      schema["minimum"] = descriptor.least;
      schema["maximum"] = descriptor.most;
    } else {
      schema[descriptor.above_low ? "exclusiveMinimum" : "minimum"] = descriptor.low;
      schema["maximum"] = descriptor.high;
    }
  }

  void set_type(Json& schema, const char* type) const {
    schema["type"] = use_ == Use::kWhole ? Json(type) : Json::array({type, "null"});
  }

  Use use_;
};

Json patch_schema() {
  Json patch = SchemaWriter(Use::kPatch).object(scenario_tree());
  patch["type"] = "object";
  for (const char* name : {"version", "base", "$schema"}) patch["properties"].erase(name);
  return patch;
}

Json head(const char* title, const char* description) {
  Json schema = Json::object();
  schema["$schema"] = kDialect;
  schema["title"] = title;
  schema["description"] = description;
  return schema;
}

}  // namespace

Json scenario_schema() {
  Json schema = head("WaferVP scenario", "Generated from the descriptor table; do not edit.");
  // With a base the file is a patch of it, except for its version.
  Json whole = SchemaWriter(Use::kWhole).object(scenario_tree());
  Json patch = SchemaWriter(Use::kPatch).object(scenario_tree());
  patch["type"] = "object";
  patch["properties"]["version"] = whole["properties"]["version"];
  patch["properties"]["base"] = whole["properties"]["base"];
  whole["properties"].erase("base");
  schema["type"] = "object";
  schema["if"] = {{"required", {"base"}}};
  schema["then"] = {{"$ref", "#/$defs/patch"}};
  schema["else"] = {{"$ref", "#/$defs/scenario"}};
  schema["$defs"]["scenario"] = std::move(whole);
  schema["$defs"]["patch"] = std::move(patch);
  return schema;
}

Json study_schema() {
  Json schema = head("WaferVP study", "Generated from the descriptor table; do not edit.");
  schema.update(SchemaWriter(Use::kWhole).object(study_tree()));
  Json& members = schema["properties"];
  Json& variants = members["variants"];
  variants["minProperties"] = 1;
  variants["maxProperties"] = kMaxVariants;
  variants["propertyNames"] = {{"pattern", "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$"}, {"maxLength", kMaxVariantName}};
  variants["additionalProperties"] = {{"$ref", "#/$defs/patch"}};
  members["grid"]["propertyNames"] = {{"pattern", "^/"}};
  members["grid"]["additionalProperties"] = {{"type", "array"}, {"minItems", 1}};
  Json figure = {{"type", "object"},
                 {"properties",
                  {{"value", {{"type", "number"}, {"exclusiveMinimum", 0}}},
                   {"source", {{"type", "string"}, {"minLength", 1}}},
                   {"note", {{"type", "string"}}}}},
                 {"required", {"value", "source"}},
                 {"additionalProperties", false}};
  members["published"]["additionalProperties"] = {
      {"type", "object"},
      {"properties", {{"speedup", figure}, {"time_over_mesh", figure}}},
      {"additionalProperties", false}};
  schema["$defs"]["patch"] = patch_schema();
  return schema;
}

}  // namespace wafervp
