// SPDX-License-Identifier: Apache-2.0
#include "results/folder.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>

#include "temporary_folder.h"

namespace wafervp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

int code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const FileError& error) {
    return error.code();
  }
  return 0;
}

TEST(ResultFolder, FilesAppearTogetherAtTheCommit) {
  TemporaryFolder parent;
  const std::string path = parent / "a/b";
  ResultFolder folder(path);
  folder.stage("one", "1");
  folder.stage("two", std::string(200000, 'x'));
  EXPECT_FALSE(std::filesystem::exists(folder.file("one")));
  folder.commit();
  EXPECT_THAT(names_in(path), ElementsAre("one", "two"));
  EXPECT_EQ(read_file(folder.file("one")), "1");
  EXPECT_EQ(read_file(folder.file("two")).size(), 200000u);
}

TEST(ResultFolder, WhatWasNotCommittedLeavesNoTrace) {
  TemporaryFolder parent;
  {
    ResultFolder folder(parent / "a/b");
    folder.stage("one", "1");
  }
  EXPECT_THAT(names_in(parent.path()), IsEmpty());
}

TEST(ResultFolder, AFolderThatWasThereStays) {
  TemporaryFolder parent;
  { ResultFolder folder(parent.path()); }
  EXPECT_TRUE(std::filesystem::exists(parent.path()));
}

TEST(ResultFolder, TheCommitReplacesAndDrops) {
  TemporaryFolder parent;
  std::ofstream(parent / "one") << "old";
  std::ofstream(parent / "stale") << "old";
  ResultFolder folder(parent.path());
  folder.stage("one", "new");
  folder.drop("stale");
  folder.drop("absent");
  folder.commit();
  EXPECT_THAT(names_in(parent.path()), ElementsAre("one"));
  EXPECT_EQ(read_file(parent / "one"), "new");
}

TEST(ResultFolder, FilesOfAKilledProcessAreRemoved) {
  TemporaryFolder parent;
  std::ofstream(parent / ".trace.json.part") << "half";
  std::ofstream(parent / ".hidden") << "of the user";
  ResultFolder folder(parent.path());
  EXPECT_THAT(names_in(parent.path()), ElementsAre(".hidden"));
}

TEST(ResultFolder, OneProcessAtATime) {
  TemporaryFolder parent;
  ResultFolder first(parent.path());
  EXPECT_EQ(code_of([&] { ResultFolder second(parent.path()); }), EWOULDBLOCK);
}

TEST(ResultFolder, AFileInTheWayIsNamed) {
  TemporaryFolder parent;
  std::ofstream(parent / "file") << "x";
  try {
    ResultFolder folder(parent / "file/results");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr(parent / "file"));
    EXPECT_EQ(error.code(), ENOTDIR);
    EXPECT_FALSE(error.is_resource());
  }
}

TEST(ResultFolder, AFileSizeLimitLeavesNothingBehind) {
  TemporaryFolder parent;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{4096, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const int code = code_of([&] {
    ResultFolder folder(parent / "out");
    folder.stage("small", "1");
    folder.stage("large", std::string(10000, 'x'));
  });
  ::setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(code, EFBIG);
  EXPECT_TRUE(FileError("", code).is_resource());
  EXPECT_THAT(names_in(parent.path()), IsEmpty());
}

TEST(ReadFile, NamesTheFile) {
  TemporaryFolder parent;
  try {
    read_file(parent / "absent");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr("absent: No such file"));
  }
}

}  // namespace
}  // namespace wafervp
