import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readLines } from '../test/lines.ts'
import { missing, missingOthers, wanted } from '../test/needs.ts'
import { bundleService } from './bundle-service.ts'
import { installNeeded, thisMachine } from './install-needed.ts'
import { allTests, estimatedTimings, quickTests } from './quick-tests.ts'
import { progressText, statusLine, testProgress } from './test-progress.ts'

/**
 * `npm test`: builds the page and a bundle of the service, then runs every test. On a terminal it shows progress, and
 * each failure as it occurs. Elsewhere it prints failures, and a last line `N passed, N failed`, with `N skipped (no
 * chromium)` when this machine lacks a program. As root on Debian it first installs missing programs, with one line of
 * output.
 *
 * Arguments select tests: `npm test -- test/reload.test.ts`. `--quick` runs only tests without browser, server and long
 * waits, and installs no programs. Exits with the worst exit code.
 *
 * A busy machine can stall a process for seconds. So when few files of the whole run have failed, each of them runs
 * once more, alone. A file that then passes does not fail the run: the last line counts and names it as unsteady. An
 * error outside of tests always fails the run, since Bun does not say reliably which file it belongs to.
 */

const root = join(import.meta.dir, '..')
/** Twice two cores: many tests wait for timers. */
const workers = 4
/** Durations by which bun distributes files: each worker begins with its slowest, so that none is left for the end. */
const timingsFile = join(root, 'node_modules', '.cache', 'test-timings.json')
/** A whole run with failures in at most this many files runs these files again, each alone. */
const repeatedFilesMax = 12
/** A folder in memory takes temporary files of tests if it has so much room: a third less CPU time with databases. */
const memory = { folder: '/dev/shm', bytesMin: 4 * 1024 ** 3 }
const given = process.argv.slice(2)
const isQuick = given.includes('--quick')
const options = given.filter((option) => option !== '--quick')

interface Outcome {
  readonly code: number
  readonly output: string
}

/** Folder for temporary files. Removed with this process; `undefined`: the usual one. */
function temporaryFolder(): string | undefined {
  if (process.env['TMPDIR'] !== undefined) return undefined
  try {
    const { bavail, bsize } = statfsSync(memory.folder)
    if (bavail * bsize < memory.bytesMin) return undefined
    const folder = mkdtempSync(join(memory.folder, 'svc-tests-'))
    // PostgreSQL runs as another user.
    chmodSync(folder, 0o711)
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
    return folder
  } catch {
    // There is no such folder, or it may not be written.
    return undefined
  }
}

const folder = temporaryFolder()

async function run(command: readonly string[], onLine: (line: string) => void = () => undefined): Promise<Outcome> {
  const child = Bun.spawn([...command], {
    cwd: root,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, NO_COLOR: '1', ...(folder === undefined ? {} : { TMPDIR: folder }) },
  })
  let output = ''
  function take(line: string): void {
    output += `${line}\n`
    onLine(line)
  }
  const [code] = await Promise.all([child.exited, readLines(child.stdout, take), readLines(child.stderr, take)])
  return { code, output }
}

/** Sums the counts that bun prints, such as ` 12 pass`. */
function count(output: string, word: 'pass' | 'fail' | 'skip' | 'error'): number {
  return [...output.matchAll(new RegExp(`^ *(\\d+) ${word}s?$`, 'gm'))].reduce(
    (sum, [, digits]) => sum + Number(digits),
    0,
  )
}

/** `3 skipped (no chromium)`; nothing for 0. */
function skippedLine(skipped: number): readonly string[] {
  const reasons = [...missing(), ...missingOthers()]
  if (skipped === 0) return []
  return [`${skipped} skipped${reasons.length === 0 ? '' : ` (no ${reasons.join(', ')})`}`]
}

interface Repeated {
  /** Files that passed. */
  readonly passed: readonly string[]
  /** Number of failed tests. */
  readonly failed: number
  /** The worst exit code. */
  readonly code: number
}

/** Runs test files alone, one after the other. */
async function repeat(files: readonly string[]): Promise<Repeated> {
  const passed: string[] = []
  let failed = 0,
    worst = 0
  for (const file of files) {
    status.show(`${file} once more …`)
    const { code, output } = await run([process.execPath, 'test', '--timeout', '40000', `./${file}`])
    if (code === 0) passed.push(file)
    else failed += Math.max(1, count(output, 'fail'))
    worst = Math.max(worst, code)
  }
  return { passed, failed, code: worst }
}

/** Number of test files that the options select. */
function filesOf(paths: readonly string[]): number {
  const names = options.filter((option) => !option.startsWith('-')).map((name) => name.replace(/^\.\//, ''))
  return names.length === 0 ? paths.length : paths.filter((path) => names.some((name) => path.includes(name))).length
}

const started = performance.now()
const status = statusLine(process.stdout.isTTY ? (text) => void process.stdout.write(text) : undefined, () =>
  performance.now(),
)

status.show('building the service and the page …')
// Built once here, and not by every process of tests. Meanwhile packages of the system arrive.
const [built] = await Promise.all([
  bundleService().then(
    (): Outcome => ({ code: 0, output: '' }),
    (error: unknown): Outcome => ({ code: 1, output: Bun.inspect(error) }),
  ),
  isQuick ? undefined : installNeeded({ missing: missing(), wanted: wanted() }, thisMachine()),
])
status.clear()
if (built.code !== 0) console.log(built.output.trimEnd())

const chosen = isQuick ? await quickTests(root) : allTests(root)
const total = filesOf(chosen)
const failures: string[] = []
const progress = testProgress(workers, (text) => {
  failures.push(text)
  status.print(text)
})
await mkdir(dirname(timingsFile), { recursive: true })
await writeFile(timingsFile, JSON.stringify(estimatedTimings(root)))
const show = (): void => status.show(progressText(progress.counts, total, performance.now() - started))
const ticking = setInterval(show, 1_000)
const tests = await run(
  [
    process.execPath,
    'test',
    '--timeout',
    '40000',
    `--parallel=${workers}`,
    // Files of one worker share modules, and Chromium.
    '--no-isolate',
    `--timings=${timingsFile}`,
    ...(isQuick && options.length === 0 ? chosen.map((path) => `./${path}`) : options),
  ],
  (line) => {
    progress.line(line)
    show()
  },
)
clearInterval(ticking)
progress.end()
const { failedFiles } = progress
const isRepeated =
  tests.code !== 0 &&
  options.length === 0 &&
  count(tests.output, 'error') === 0 &&
  failedFiles.length > 0 &&
  failedFiles.length <= repeatedFilesMax
const firstFailed = tests.code === 0 ? 0 : Math.max(1, count(tests.output, 'fail'))
const repeated = isRepeated ? await repeat(failedFiles) : { passed: [], failed: firstFailed, code: tests.code }
status.clear()
if (tests.code !== 0 && failures.length === 0) console.log(tests.output.trimEnd())
else if (!process.stdout.isTTY) for (const text of failures) console.log(text)

console.log(
  [
    `${count(tests.output, 'pass')} passed`,
    `${repeated.failed} failed`,
    ...skippedLine(count(tests.output, 'skip')),
    ...(repeated.passed.length > 0 ? [`unsteady, passed alone: ${repeated.passed.join(', ')}`] : []),
  ].join(', '),
)
process.exitCode = Math.max(built.code, repeated.code)
