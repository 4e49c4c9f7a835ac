// SPDX-License-Identifier: Apache-2.0
#include "winze/support/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "winze/support/bytes.h"
#include "winze/support/diagnostic.h"
#include "winze/support/error_of.h"

namespace winze {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// A folder of its own for each test.
class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              fmt::format("winze_atomic_{}_{}", ::getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_))
      found.push_back(entry.path().filename());
    return found;
  }
  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static unsigned mode(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777U;
  }

 private:
  fs::path folder_;
};

/// Runs `act` in a process of its own and returns its exit status as waitpid gives it.
int in_child(const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act());
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(AtomicFileTest, SaysThatWhatIsCopiedWasShortened) {
  put(path("from"), std::string(std::size_t{1} << 20U, 'x'));
  put(path("to"), "old");
  const Bytes mapped = map_file(path("from"));
  fs::resize_file(path("from"), 0);
  AtomicFile file(path("to"));
  try {
    file.write(mapped.span());
    FAIL() << "nothing is thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("takes bytes from, was shortened while it was copied"));
    // It is no fault of the file that is written; the caller knows which one it is.
    EXPECT_EQ(error.diagnostic().where.file, "");
  }
  EXPECT_EQ(content(path("to")), "old");
  EXPECT_THAT(names(), UnorderedElementsAre("from", "to"));
}

TEST_F(AtomicFileTest, AppearsOnCommitAlone) {
  AtomicFile file(path("a"));
  file.write("hello ");
  file.write("world");
  EXPECT_FALSE(fs::exists(path("a")));
  file.commit();
  EXPECT_EQ(content(path("a")), "hello world");
  EXPECT_THAT(names(), UnorderedElementsAre("a"));
}

TEST_F(AtomicFileTest, ReplacesAFile) {
  put(path("a"), "old");
  AtomicFile file(path("a"));
  file.write("new");
  EXPECT_EQ(content(path("a")), "old");
  file.commit();
  EXPECT_EQ(content(path("a")), "new");
  EXPECT_THAT(names(), UnorderedElementsAre("a"));
}

TEST_F(AtomicFileTest, LeavesNothingWithoutCommit) {
  put(path("a"), "old");
  {
    AtomicFile replacing(path("a"));
    replacing.write(std::string(1'000'000, 'x'));
    AtomicFile fresh(path("b"));
    fresh.write("y");
  }
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_THAT(names(), UnorderedElementsAre("a"));
}

TEST_F(AtomicFileTest, WritesLargeAndSmallPiecesInOrder) {
  std::string expected;
  AtomicFile file(path("a"));
  for (std::size_t i = 0; i < 40; ++i) {
    const std::string piece(i * i * 997, static_cast<char>('a' + i % 26));
    file.write(piece);
    expected += piece;
  }
  file.commit();
  EXPECT_EQ(content(path("a")), expected);
}

TEST_F(AtomicFileTest, KeepsPermissions) {
  put(path("a"), "old");
  fs::permissions(path("a"), fs::perms(0640));
  write_file_atomically(path("a"), "new");
  EXPECT_EQ(mode(path("a")), 0640U);
}

TEST_F(AtomicFileTest, GivesANewFileWhatTheUmaskLeaves) {
  const mode_t old_mask = ::umask(027);
  write_file_atomically(path("a"), "new");
  ::umask(old_mask);
  EXPECT_EQ(mode(path("a")), 0640U);
}

TEST_F(AtomicFileTest, FollowsASymbolicLink) {
  put(path("target"), "old");
  fs::create_directory(path("links"));
  fs::create_symlink("../target", path("links/one"));
  fs::create_symlink("links/one", path("two"));
  write_file_atomically(path("two"), "new");
  EXPECT_EQ(content(path("target")), "new");
  EXPECT_TRUE(fs::is_symlink(path("two")));
  EXPECT_TRUE(fs::is_symlink(path("links/one")));
}

TEST_F(AtomicFileTest, CreatesWhatADanglingLinkNames) {
  fs::create_symlink("target", path("link"));
  write_file_atomically(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content(path("target")), "new");
}

TEST_F(AtomicFileTest, RefusesLinksInACircle) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  EXPECT_THAT(error_of([&] { AtomicFile file(path("a")); }),
              HasSubstr("Too many levels of symbolic links"));
}

TEST_F(AtomicFileTest, TakesLongNames) {
  const std::string name(255, 'n');
  write_file_atomically(path(name), "new");
  EXPECT_EQ(content(path(name)), "new");
}

TEST_F(AtomicFileTest, NamesPathAndReason) {
  const std::string missing = path("no/such/folder");
  EXPECT_EQ(error_of([&] { AtomicFile file(missing); }),
            missing + ": error: cannot create the file: No such file or directory");
  EXPECT_THAT(error_of([&] { AtomicFile file(path("")); }),
              HasSubstr("cannot write the file: Is a directory"));
  EXPECT_EQ(error_of([] { AtomicFile file(""); }), "error: cannot write a file without a name");
}

TEST_F(AtomicFileTest, ReportsAFullDisk) {
  EXPECT_EQ(error_of([] { write_file_atomically("/dev/full", "text"); }),
            "/dev/full: error: cannot write the file: No space left on device");
  EXPECT_EQ(error_of([] { write_file_atomically("/dev/full", std::string(1'000'000, 'x')); }),
            "/dev/full: error: cannot write the file: No space left on device");
}

TEST_F(AtomicFileTest, KeepsTheOldFileWhenSpaceRunsOut) {
  put(path("a"), "old");
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = error_of([&] {
      AtomicFile file(path("a"));
      for (int i = 0; i < 100; ++i) file.write(std::string(10'000, 'x'));
      file.commit();
    });
    return message == path("a") +
                          ": error: cannot write the file: File too large\n"
                          "  hint: the file is as it was before"
               ? 0
               : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_THAT(names(), UnorderedElementsAre("a"));
}

TEST_F(AtomicFileTest, KeepsTheOldFileWhenKilled) {
  put(path("a"), "old");
  const int status = in_child([&] {
    AtomicFile file(path("a"));
    file.write(std::string(1'000'000, 'x'));
    ::raise(SIGKILL);
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(content(path("a")), "old");
}

TEST_F(AtomicFileTest, WritesIntoAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = content(path("pipe")); });
  write_file_atomically(path("pipe"), "through");
  reader.join();
  EXPECT_EQ(received, "through");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(AtomicFileTest, WritesToStandardOutput) {
  for (const char* name : {"-", "/dev/stdout", "/dev/fd/1"}) {
    put(path("out"), "");
    const int status = in_child([&] {
      if (std::freopen(path("out").c_str(), "a", stdout) == nullptr) return 1;
      write_file_atomically(name, "one ");
      write_file_atomically(name, "two");
      return 0;
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(content(path("out")), "one two") << name;
  }
}

TEST_F(AtomicFileTest, CallsStandardOutputByItsName) {
  EXPECT_EQ(AtomicFile("-").path(), "standard output");
  EXPECT_EQ(AtomicFile("/dev/stdout").path(), "/dev/stdout");
}

TEST_F(AtomicFileTest, DoesNotReplaceAFileThatMayNotBeWritten) {
  put(path("a"), "old");
  fs::permissions(path("a"), fs::perms(0444));
  const int status = in_child([&] {
    // Root may write everything, so that it has to become somebody else first.
    constexpr uid_t nobody = 65534;
    if (::geteuid() == 0 && ::seteuid(nobody) != 0) return 1;
    const std::string message = error_of([&] { AtomicFile file(path("a")); });
    return message.find("cannot write the file: Permission denied") != std::string::npos ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(AtomicFileTest, CannotBeUsedAfterCommit) {
  AtomicFile file(path("a"));
  file.commit();
  EXPECT_THROW(file.write("x"), InternalError);
  EXPECT_THROW(file.commit(), InternalError);
  EXPECT_EQ(content(path("a")), "");
}

TEST_F(AtomicFileTest, CannotBeUsedAfterAFailure) {
  AtomicFile file("/dev/full");
  EXPECT_THROW(file.write(std::string(1'000'000, 'x')), Error);
  EXPECT_THROW(file.write("x"), InternalError);
}

}  // namespace
}  // namespace winze
