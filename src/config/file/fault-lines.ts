import type { ValuePlace } from '../../shapes/node.ts'
import type { Faults } from '../../shapes/shape.ts'
import { ConfigError, type ConfigFault } from '../config.ts'

/** Most faults that are listed; further ones are only counted, since a file of another kind may have thousands. */
const faultsShownMax = 100

/** Collects the faults of one file, to report them together. */
export interface Findings extends Faults {
  /** The error with all faults so far, in the order of the file. */
  toError(): ConfigError
  /** @throws {ConfigError} when there are faults */
  throwIfAny(): void
}

interface Finding {
  readonly location: ValuePlace
  readonly found: string
  readonly allowed: string
}

/** Makes an empty collection for a text. Lines and columns count from 1; `\n`, `\r\n` and `\r` end a line. */
export function collectFindings(file: string, text: string): Findings {
  const findings: Finding[] = []
  let lineStarts: readonly number[] | undefined

  function lineOf(offset: number): number {
    lineStarts ??= findLineStarts(text)
    return lastAtOrBelow(lineStarts, offset) + 1
  }

  function asFault({ location, found, allowed }: Finding): ConfigFault {
    const line = lineOf(location.offset)
    const lineStart = lineStarts?.[line - 1] ?? 0
    return { file, line, column: location.offset - lineStart + 1, field: location.path, found, allowed }
  }

  function toError(): ConfigError {
    const inOrder = findings.toSorted((one, other) => one.location.offset - other.location.offset)
    const faults = inOrder.slice(0, faultsShownMax).map(asFault)
    const left = inOrder[faultsShownMax]
    if (left !== undefined) {
      faults.push(
        asFault({ ...left, found: `${inOrder.length - faultsShownMax} more faults from here on`, allowed: 'none' }),
      )
    }
    return new ConfigError(faults)
  }

  return {
    add(location, found, allowed) {
      findings.push({ location, found, allowed })
    },
    lineOf,
    toError,
    throwIfAny() {
      if (findings.length > 0) throw toError()
    },
  }
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0]
  for (const lineEnd of text.matchAll(/\r\n|\n|\r/g)) starts.push(lineEnd.index + lineEnd[0].length)
  return starts
}

function lastAtOrBelow(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((sorted[middle] ?? 0) <= value) low = middle
    else high = middle - 1
  }
  return low
}
