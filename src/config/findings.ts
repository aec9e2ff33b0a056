import { ConfigError, type ConfigFault } from './config.ts'

/** Faults beyond this many are only counted: a file of another kind would otherwise fill the screen. */
const faultsShownMax = 100

/** A place in the file (an offset in characters) and the field that stands there. */
export interface Place {
  readonly offset: number
  readonly path: string
}

/** Collects the faults of one file, so that its owner sees all of them at once. */
export interface Findings {
  /** Notes a fault at a place. `found` must not hold a secret. */
  add(place: Place, found: string, allowed: string): void
  /** The line of an offset, from 1. */
  lineOf(offset: number): number
  /** Everything noted so far, in the order of the file. */
  toError(): ConfigError
  /** @throws {ConfigError} when anything was noted */
  throwIfAny(): void
}

interface Noted {
  readonly place: Place
  readonly found: string
  readonly allowed: string
}

/** Begins a collection for a text. Offsets become lines and columns, both from 1; `\n`, `\r\n` and `\r` end a line. */
export function collectFindings(file: string, text: string): Findings {
  const noted: Noted[] = []
  let lineStarts: readonly number[] | undefined

  function lineOf(offset: number): number {
    lineStarts ??= findLineStarts(text)
    return lastAtOrBelow(lineStarts, offset) + 1
  }

  function asFault({ place, found, allowed }: Noted): ConfigFault {
    const line = lineOf(place.offset)
    const lineStart = lineStarts?.[line - 1] ?? 0
    return { file, line, column: place.offset - lineStart + 1, field: place.path, found, allowed }
  }

  function toError(): ConfigError {
    const inOrder = noted.toSorted((one, other) => one.place.offset - other.place.offset)
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
    add(place, found, allowed) {
      noted.push({ place, found, allowed })
    },
    lineOf,
    toError,
    throwIfAny() {
      if (noted.length > 0) throw toError()
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
