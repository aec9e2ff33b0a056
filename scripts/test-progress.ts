/** Counts of a run of `bun test`, as far as its output shows them. */
export interface TestCounts {
  /** Files whose tests have all ended. */
  readonly files: number
  readonly passed: number
  readonly failed: number
}

/** Reads the output of `bun test --parallel`, line by line. */
export interface TestProgress {
  line(text: string): void
  /** The output has ended. */
  end(): void
  readonly counts: TestCounts
  /** Files with a failed test, or with an error outside of tests. */
  readonly failedFiles: readonly string[]
}

const fileHeader = /^(\S+\.test\.tsx?):$/
const result = /^\((pass|fail|skip|todo)\) /
/** A line that belongs to the failure before it. */
const more = /^ +\^ /
/** Bun repeats all failures below this line, where there are many tests. */
const summary = /^\d+ tests? failed:$/

/**
 * Follows a run of `workers` processes, each with one file at a time. Their outputs alternate, a test at a time. So
 * when a file appears, all but `workers` of the files before it have ended.
 *
 * @param onFailure called for each failed test and for output that belongs to no test. It receives the output, headed
 *   by its file
 */
export function testProgress(workers: number, onFailure: (text: string) => void): TestProgress {
  const files = new Set<string>(),
    failedFiles = new Set<string>()
  let file = '',
    passed = 0,
    failed = 0,
    ended = false,
    isSummary = false
  let block: string[] = [],
    failure: string[] = []

  function report(text: readonly string[]): void {
    failedFiles.add(file)
    onFailure([`${file}:`, ...text].join('\n'))
  }

  function reportFailure(): void {
    if (failure.length > 0) report(failure)
    failure = []
  }

  /** Output before a header or a passed test: an error outside of tests. */
  function reportBlock(): void {
    if (block.some((text) => /^error:|^# Unhandled/.test(text))) report(block)
    block = []
  }

  function finish(outcome: string, text: string): void {
    if (outcome === 'fail') {
      failed += 1
      failure = [...block, text]
      block = []
      return
    }
    if (outcome === 'pass') passed += 1
    reportBlock()
  }

  return {
    line(text) {
      if (isSummary || (failure.length === 0 && block.length === 0 && text === '')) return
      if (failure.length > 0 && more.test(text)) return void failure.push(text)
      reportFailure()
      const [, header] = fileHeader.exec(text) ?? []
      const [, outcome] = result.exec(text) ?? []
      isSummary = summary.test(text)
      if (header !== undefined) {
        reportBlock()
        file = header
        files.add(header)
      } else if (outcome !== undefined) finish(outcome, text)
      else if (!isSummary && file !== '') block.push(text)
    },
    end() {
      reportFailure()
      reportBlock()
      ended = true
    },
    get counts() {
      return { files: ended ? files.size : Math.max(0, files.size - workers), passed, failed }
    },
    get failedFiles() {
      return [...failedFiles]
    },
  }
}

/** One line that is written again and again on a terminal, at most ten times a second; elsewhere nothing is written. */
export interface StatusLine {
  show(text: string): void
  /** Writes lines that stay, above the status. */
  print(text: string): void
  /** Removes the status. */
  clear(): void
}

const eraseLine = '\r\x1b[2K'
const pauseMs = 100

/** @param terminal where to write; `undefined`: the output is no terminal */
export function statusLine(terminal: ((text: string) => void) | undefined, now: () => number): StatusLine {
  let status = '',
    shownAt = -Infinity
  return {
    show(text) {
      status = text
      if (terminal === undefined || now() - shownAt < pauseMs) return
      shownAt = now()
      terminal(eraseLine + status)
    },
    print(text) {
      terminal?.(`${eraseLine}${text}\n${status}`)
    },
    clear() {
      terminal?.(eraseLine)
    },
  }
}

/** `123 of 365 files, 4021 passed, 2 failed, 3:05` */
export function progressText({ files, passed, failed }: TestCounts, total: number, elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1_000)
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  return [`${files} of ${total} files`, `${passed} passed`, ...(failed > 0 ? [`${failed} failed`] : []), time].join(
    ', ',
  )
}
