# SPDX-License-Identifier: Apache-2.0
"""Help, version and wrong command lines."""

from support import CliTest, main

COMMANDS = ["run", "validate", "schema", "list", "describe", "compare", "calibrate"]


class Help(CliTest):
    def test_help_lists_all_commands_and_exit_statuses(self):
        text = self.expect(0, "--help").stdout
        for word in COMMANDS + ["Exit status", "130"]:
            self.assertIn(word, text)

    def test_each_command_has_an_example(self):
        for command in COMMANDS:
            text = self.expect(0, command, "--help").stdout
            self.assertIn(f"Example:\n  wafervp {command}", text)
            self.assertIn("Exit status", text)
            self.assertNotIn("worker", text)

    def test_version(self):
        self.assertRegex(self.expect(0, "--version").stdout, r"^wafervp \d+\.\d+\.\d+\n$")


class WrongUsage(CliTest):
    def check(self, words, *args):
        done = self.expect(2, *args)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)

    def test_nothing(self):
        self.check(["Usage: wafervp"])

    def test_unknown_command(self):
        self.check(['unknown command "rnu"', "did you mean run?"], "rnu")
        self.check(['unknown command "xyzzy"', "calibrate"], "xyzzy")

    def test_unknown_option(self):
        self.scenario()
        self.check(['unknown option "--outt"', "did you mean --out?"], "run", "small.json", "--outt", "x")

    def test_missing_file(self):
        self.check(["files is required"], "run")

    def test_superfluous_argument(self):
        self.check(['unexpected argument "b"'], "schema", "study", "b")

    def test_set(self):
        self.scenario()
        self.check(["expected POINTER=VALUE"], "run", "small.json", "--set", "wafer/npus=3")
        self.check(["expected POINTER=VALUE"], "run", "small.json", "--set", "/wafer/npus")
        self.check(["/wafer/npus_", "npus"], "run", "small.json", "--set", "/wafer/npus_=3")
        self.check(["/wafer/npus", "expected integer"], "run", "small.json", "--set", "/wafer/npus=many")

    def test_jobs(self):
        self.scenario()
        for value in ["0", "-1", "x", "1.5"]:
            self.check(["--jobs"], "run", "small.json", "--jobs", value)

    def test_log_level(self):
        self.scenario()
        self.check(["did you mean debug?"], "run", "small.json", "--log", "debgu")

    def test_kinds(self):
        self.check(["did you mean fabrics?"], "list", "fabrcs")
        self.check(["did you mean scenario?"], "schema", "scenaro")

    def test_compare_without_results(self):
        self.check(["expected a folder with result.json"], "compare", ".")
        self.write("result.json", "{")
        self.check(["is not a result file"], "compare", ".")
        self.write("result.json", "{}")
        self.check(["is not a result file"], "compare", ".")

    def test_calibrate_wants_a_study(self):
        self.scenario()
        self.check(["expected a study"], "calibrate", "small.json")

    def test_two_files_of_one_name(self):
        self.scenario("a.json")
        self.scenario("b.json")
        self.check(["a.json and b.json both have the name"], "run", "a.json", "b.json")


if __name__ == "__main__":
    main()
