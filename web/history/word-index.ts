/** A part of the index of words: the words of some conversations. It never changes. */
export interface WordSegment {
  /** Ids of its conversations. */
  readonly ids: readonly string[]
  /** All different words, each before a line break. */
  readonly words: string
  /** For each word, in their order: the number of conversations with it, and the gaps between their places in `ids`. */
  readonly places: Uint8Array
  /**
   * For every 16th word: where it begins in `words`, and where its places begin. A search then reads few of both.
   * Segments of older pages have none.
   */
  readonly steps?: Uint32Array
}

const stepSize = 16

/** Whether a stored segment has one of these conversations. A damaged one does, and has nothing else. */
export function hasAny(value: unknown, ids: ReadonlySet<string>): boolean {
  return !isSegment(value) || value.ids.some((id) => ids.has(id))
}

/** Returns the conversations of a stored segment, with their words. */
export function entriesOf(value: unknown): readonly WordEntry[] {
  if (!isSegment(value)) return []
  const { ids, words, places } = value
  const lists = ids.map((): string[] => [])
  let at = 0
  for (const word of words.split('\n').slice(0, -1))
    at = readPlaces(places, at, (place) => {
      lists[place]?.push(word)
    })
  return ids.map((id, place) => ({ id, words: lists[place]?.join('\n') ?? '' }))
}

/** A segment that can be searched. */
export interface OpenSegment {
  readonly ids: readonly string[]
  /** Marks the places of conversations with a word that contains this text. */
  find(text: string): Uint8Array
}

/** The words of one conversation, between line breaks. */
export interface WordEntry {
  readonly id: string
  readonly words: string
}

/** Builds a segment in steps, since one of 400 conversations takes longer than a frame. */
export interface SegmentBuilder {
  add(entry: WordEntry): void
  end(): WordSegment
}

export function segmentBuilder(): SegmentBuilder {
  const ids: string[] = []
  const placesOf = new Map<string, number[]>()
  return {
    add({ id, words }) {
      const place = ids.push(id) - 1
      for (const word of words.split('\n')) {
        if (word === '') continue
        const places = placesOf.get(word)
        if (places === undefined) placesOf.set(word, [place])
        else places.push(place)
      }
    },
    end() {
      const bytes: number[] = [],
        lines: string[] = []
      for (const [word, places] of placesOf) {
        lines.push(word, '\n')
        writeNumber(bytes, places.length)
        let before = 0
        for (const place of places) {
          writeNumber(bytes, place - before)
          before = place
        }
      }
      const text = lines.join(''),
        places = Uint8Array.from(bytes)
      return { ids, words: text, places, steps: stepsOf(text, places) }
    },
  }
}

function writeNumber(bytes: number[], value: number): void {
  let rest = value
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128)
  bytes.push(rest)
}

/** Opens a stored segment. Returns `undefined` for a damaged one. */
export function openSegment(value: unknown): OpenSegment | undefined {
  if (!isSegment(value)) return undefined
  const { ids, words, places, steps = stepsOf(words, places) } = value
  return {
    ids,
    find(text) {
      const marks = new Uint8Array(ids.length)
      let left = ids.length
      const mark = (place: number): void => {
        if (marks[place] !== 0) return
        marks[place] = 1
        left--
      }
      let start = 0,
        placesStart = 0
      for (let at = words.indexOf(text); at !== -1 && left > 0; at = words.indexOf(text, start)) {
        const step = stepBefore(steps, at)
        if ((steps[step] ?? 0) > start) [start, placesStart] = [steps[step] ?? 0, steps[step + 1] ?? 0]
        let end = words.indexOf('\n', start)
        while (end !== -1 && end < at) {
          placesStart = readPlaces(places, placesStart, ignore)
          start = end + 1
          end = words.indexOf('\n', start)
        }
        placesStart = readPlaces(places, placesStart, mark)
        if (end === -1) break
        start = end + 1
      }
      return marks
    },
  }
}

function stepsOf(words: string, places: Uint8Array): Uint32Array {
  const steps: number[] = []
  for (let start = 0, at = 0, word = 0; start < words.length; word++) {
    if (word % stepSize === 0) steps.push(start, at)
    at = readPlaces(places, at, ignore)
    start = words.indexOf('\n', start) + 1
    if (start === 0) break
  }
  return Uint32Array.from(steps)
}

/** Returns the index of the last step that begins at or before a position. */
function stepBefore(steps: Uint32Array, position: number): number {
  let low = 0,
    high = steps.length >>> 1
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((steps[2 * middle] ?? 0) <= position) low = middle
    else high = middle
  }
  return 2 * low
}

function isSegment(value: unknown): value is WordSegment {
  if (typeof value !== 'object' || value === null) return false
  const { ids, words, places, steps } = value as Partial<Record<keyof WordSegment, unknown>>
  return (
    Array.isArray(ids) &&
    ids.every((id) => typeof id === 'string') &&
    typeof words === 'string' &&
    places instanceof Uint8Array &&
    (steps === undefined || steps instanceof Uint32Array)
  )
}

/** Reads the places of one word. @returns where those of the next word begin */
function readPlaces(places: Uint8Array, start: number, see: (place: number) => void): number {
  let at = start,
    left = -1,
    place = 0
  while (left !== 0 && at < places.length) {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = places[at++] ?? 0
      value |= (byte & 127) << shift
      if (byte < 128) break
    }
    if (left < 0) left = value
    else {
      place += value
      see(place)
      left--
    }
  }
  return at
}

function ignore(): void {}
