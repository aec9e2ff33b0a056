/** The pattern is not one of those that {@link compilePattern} accepts. The message completes "allowed: …". */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}

/** A text takes more steps than allowed. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps'
}

/** A compiled pattern. */
export interface Pattern {
  /** Number of its states: the most steps for one character. */
  readonly size: number
  /**
   * Finds all text that the pattern matches, in one pass.
   *
   * @param steps limit of steps
   * @returns offsets of starts and ends by turns, in their order, without overlaps
   * @throws {TooManySteps}
   */
  find(text: string, steps: Steps): readonly number[]
}

/** Steps that are left, for several patterns and texts together. */
export interface Steps {
  left: number
}

/** Longest pattern, in characters. */
export const patternLengthMax = 500
const statesMax = 1_000
const depthMax = 20

/** Inclusive ranges of UTF-16 units in their order, without overlaps: first, last, first, last … */
type Ranges = readonly number[]

type State =
  | { readonly kind: 'unit'; readonly ranges: Ranges }
  | { readonly kind: 'split'; readonly other: number }
  | { readonly kind: 'jump'; readonly to: number }
  | { readonly kind: 'assert'; readonly holds: (text: string, at: number) => boolean }
  | { readonly kind: 'match' }

type Node =
  | { readonly kind: 'unit'; readonly ranges: Ranges }
  | { readonly kind: 'assert'; readonly holds: (text: string, at: number) => boolean }
  | { readonly kind: 'sequence' | 'choice'; readonly nodes: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly least: number; readonly most: number }

/**
 * Compiles a pattern in the notation of regular expressions: text, `.`, `\d \w \s` and their opposites, `[a-z]`,
 * `[^a-z]`, groups, `|`, `* + ? {2,5}`, `\b`, and `^ $` of lines; `(?i)` in front: the case of letters does not matter.
 * Without look-around and back-references, a text needs at most its length times the size of the pattern in steps.
 *
 * @throws {PatternError}
 */
export function compilePattern(source: string): Pattern {
  if (source.length > patternLengthMax) throw new PatternError(`at most ${patternLengthMax} characters`)
  const isFolded = source.startsWith('(?i)')
  const states = statesOf(new PatternReader(isFolded ? source.slice(4) : source, isFolded).read())
  const starts = startUnits(states)
  return { size: states.length, find: (text, steps) => find(states, starts, text, steps) }
}

/** Reads a pattern, once. */
class PatternReader {
  readonly #source: string
  /** The case of letters does not matter. */
  readonly #isFolded: boolean
  #at = 0
  #depth = 0

  constructor(source: string, isFolded: boolean) {
    this.#source = source
    this.#isFolded = isFolded
  }

  /** @throws {PatternError} */
  read(): Node {
    const node = this.#choice()
    if (this.#at < this.#source.length) this.#fail('in which each ) has its (')
    return node
  }

  #fail(reason: string): never {
    throw new PatternError(`a pattern ${reason}, which it is not at character ${this.#at + 1}`)
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #choice(): Node {
    const nodes = [this.#sequence()]
    while (this.#take('|')) nodes.push(this.#sequence())
    return nodes.length === 1 && nodes[0] !== undefined ? nodes[0] : { kind: 'choice', nodes }
  }

  #sequence(): Node {
    const nodes: Node[] = []
    while (this.#at < this.#source.length && this.#source[this.#at] !== '|' && this.#source[this.#at] !== ')')
      nodes.push(this.#repeated())
    return { kind: 'sequence', nodes }
  }

  #repeated(): Node {
    let node = this.#atom()
    for (let bounds = this.#repetition(); bounds !== undefined; bounds = this.#repetition()) {
      if (node.kind === 'repeat' || node.kind === 'assert')
        this.#fail('without repetitions of a repetition or of a border')
      node = { kind: 'repeat', node, least: bounds[0], most: bounds[1] }
      this.#take('?')
    }
    return node
  }

  #repetition(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Infinity]
    if (this.#take('+')) return [1, Infinity]
    if (this.#take('?')) return [0, 1]
    const [whole, first = '', comma, last] =
      /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/.exec(this.#source.slice(this.#at, this.#at + 12)) ?? []
    if (whole === undefined) return undefined
    const least = Number(first)
    const most = comma === undefined ? least : last === undefined ? Infinity : Number(last)
    if (most < least || most === 0) this.#fail('with repetitions such as {2,5}')
    this.#at += whole.length
    return [least, most]
  }

  #atom(): Node {
    if (this.#take('(')) return this.#group()
    if (this.#take('[')) return { kind: 'unit', ranges: this.#set() }
    if (this.#take('.')) return { kind: 'unit', ranges: opposite([10, 10, 13, 13]) }
    if (this.#take('^')) return { kind: 'assert', holds: (text, here) => here === 0 || text[here - 1] === '\n' }
    if (this.#take('$')) return { kind: 'assert', holds: (text, here) => here === text.length || text[here] === '\n' }
    if (this.#take('\\b')) return { kind: 'assert', holds: isBorder }
    if (this.#take('\\B')) return { kind: 'assert', holds: (text, here) => !isBorder(text, here) }
    if (this.#take('\\')) return { kind: 'unit', ranges: this.#folded(this.#escape()) }
    if ('*+?{}]'.includes(this.#source[this.#at] ?? '')) this.#fail('in which * + ? { } ] are written with \\ in front')
    const unit = this.#source.charCodeAt(this.#at)
    this.#at += 1
    return { kind: 'unit', ranges: this.#folded([unit, unit]) }
  }

  #group(): Node {
    if (!this.#take('?:') && this.#source[this.#at] === '?') this.#fail('without look-around and named groups')
    this.#depth += 1
    if (this.#depth > depthMax) this.#fail(`with at most ${depthMax} groups in each other`)
    const node = this.#choice()
    if (!this.#take(')')) this.#fail('in which each ( has its )')
    this.#depth -= 1
    return node
  }

  #set(): Ranges {
    const isOpposite = this.#take('^')
    const ranges: number[] = []
    if (this.#source[this.#at] === ']') this.#fail('without empty sets')
    while (!this.#take(']')) {
      if (this.#at >= this.#source.length) this.#fail('in which each [ has its ]')
      const first = this.#member()
      const isRange =
        this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']' && this.#at + 1 < this.#source.length
      if (!isRange) {
        ranges.push(...first)
        continue
      }
      this.#at += 1
      const [from = 0, fromEnd] = first
      const [to = 0, toEnd] = this.#member()
      if (from !== fromEnd || to !== toEnd || to < from) this.#fail('with ranges of single characters such as a-z')
      ranges.push(from, to)
    }
    return isOpposite ? opposite(this.#folded(ranges)) : this.#folded(ranges)
  }

  #member(): Ranges {
    if (this.#take('\\')) return this.#escape()
    const unit = this.#source.charCodeAt(this.#at)
    this.#at += 1
    return [unit, unit]
  }

  #escape(): Ranges {
    const letter = this.#source[this.#at] ?? this.#fail('that does not end with \\')
    this.#at += 1
    const known = sets[letter]
    if (known !== undefined) return known
    const digits = letter === 'x' ? 2 : letter === 'u' ? 4 : 0
    if (digits > 0) {
      const code = this.#source.slice(this.#at, this.#at + digits)
      if (!/^[0-9a-fA-F]+$/.test(code) || code.length < digits) this.#fail('with codes such as \\x41 and \\u0041')
      this.#at += digits
      return [Number.parseInt(code, 16), Number.parseInt(code, 16)]
    }
    if (/[0-9A-Za-z]/.test(letter))
      this.#fail('without back-references, and of the escapes with \\d \\w \\s \\b \\n \\r \\t only')
    return [letter.charCodeAt(0), letter.charCodeAt(0)]
  }

  #folded(ranges: Ranges): Ranges {
    if (!this.#isFolded) return inOrder(ranges)
    const others: number[] = []
    for (let index = 0; index < ranges.length; index += 2) {
      const [first = 0, last = 0] = ranges.slice(index, index + 2)
      others.push(...shifted(first, last, 'A', 32), ...shifted(first, last, 'a', -32))
    }
    return inOrder([...ranges, ...others])
  }
}

/** The letters of a range that are in the alphabet from `start`, in their other case. */
function shifted(first: number, last: number, start: string, by: number): Ranges {
  const from = Math.max(first, start.charCodeAt(0))
  const to = Math.min(last, start.charCodeAt(0) + 25)
  return from > to ? [] : [from + by, to + by]
}

/** Ranges of any order. */
function inOrder(ranges: readonly number[]): Ranges {
  const pairs: (readonly [number, number])[] = []
  for (let index = 0; index < ranges.length; index += 2) pairs.push([ranges[index] ?? 0, ranges[index + 1] ?? 0])
  const result: number[] = []
  for (const [first, last] of pairs.toSorted((one, other) => one[0] - other[0])) {
    const end = result.at(-1)
    if (end === undefined || first > end + 1) result.push(first, last)
    else result[result.length - 1] = Math.max(end, last)
  }
  return result
}

function opposite(ranges: Ranges): Ranges {
  const result: number[] = []
  let next = 0
  for (let index = 0; index < ranges.length; index += 2) {
    const [first = 0, last = 0] = ranges.slice(index, index + 2)
    if (first > next) result.push(next, first - 1)
    next = last + 1
  }
  if (next <= 0xff_ff) result.push(next, 0xff_ff)
  return result
}

const digits: Ranges = [48, 57]
const words: Ranges = [48, 57, 65, 90, 95, 95, 97, 122]
const blanks: Ranges = [
  9, 13, 32, 32, 0xa0, 0xa0, 0x20_00, 0x20_0a, 0x20_28, 0x20_29, 0x20_2f, 0x20_2f, 0x30_00, 0x30_00,
]
const sets: Readonly<Record<string, Ranges>> = {
  d: digits,
  D: opposite(digits),
  w: words,
  W: opposite(words),
  s: blanks,
  S: opposite(blanks),
  n: [10, 10],
  r: [13, 13],
  t: [9, 9],
}

function isBorder(text: string, at: number): boolean {
  return isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at))
}

/** `NaN` is beyond the text. */
function isWord(unit: number): boolean {
  return isIn(words, unit)
}

/** Halves the ranges: a set may have hundreds of them, and is looked into at each step. */
function isIn(ranges: Ranges, unit: number): boolean {
  let from = 0
  let to = ranges.length >> 1
  while (from < to) {
    const middle = (from + to) >> 1
    if (unit > (ranges[2 * middle + 1] ?? 0)) from = middle + 1
    else to = middle
  }
  return unit >= (ranges[2 * from] ?? Infinity)
}

/** The automaton of a pattern. The state behind a state follows it; a split also goes to its other one. */
function statesOf(root: Node): readonly State[] {
  const states: State[] = []

  function add(state: State): number {
    if (states.length >= statesMax) throw new PatternError(`a pattern with fewer or shorter repetitions and choices`)
    return states.push(state) - 1
  }

  function write(node: Node): void {
    switch (node.kind) {
      case 'unit':
      case 'assert':
        add(node)
        return
      case 'sequence':
        for (const each of node.nodes) write(each)
        return
      case 'choice':
        return writeChoice(node.nodes)
      case 'repeat':
        for (let count = 0; count < node.least; count += 1) write(node.node)
        if (node.most === Infinity) writeLoop(node.node)
        else writeOptional(node.node, node.most - node.least)
    }
  }

  function writeChoice(nodes: readonly Node[]): void {
    const ends: number[] = []
    for (const [index, each] of nodes.entries()) {
      const isLast = index === nodes.length - 1
      const split = isLast ? -1 : add({ kind: 'split', other: 0 })
      write(each)
      if (isLast) break
      ends.push(add({ kind: 'jump', to: 0 }))
      states[split] = { kind: 'split', other: states.length }
    }
    for (const end of ends) states[end] = { kind: 'jump', to: states.length }
  }

  function writeLoop(node: Node): void {
    const split = add({ kind: 'split', other: 0 })
    write(node)
    add({ kind: 'jump', to: split })
    states[split] = { kind: 'split', other: states.length }
  }

  function writeOptional(node: Node, count: number): void {
    const splits: number[] = []
    for (let index = 0; index < count; index += 1) {
      splits.push(add({ kind: 'split', other: 0 }))
      write(node)
    }
    for (const split of splits) states[split] = { kind: 'split', other: states.length }
  }

  write(root)
  add({ kind: 'match' })
  return states
}

/** For each ASCII character, whether a match may begin with it. Others always may. */
function startUnits(states: readonly State[]): Uint8Array {
  const may = new Uint8Array(128)
  const seen = new Set<number>()
  const open = [0]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue
    seen.add(at)
    const state = states[at]
    if (state?.kind === 'unit') for (let unit = 0; unit < 128; unit += 1) if (isIn(state.ranges, unit)) may[unit] = 1
    if (state?.kind === 'split') open.push(state.other)
    if (state?.kind === 'jump') open.push(state.to)
    if (state?.kind === 'split' || state?.kind === 'assert') open.push(at + 1)
  }
  return may
}

/**
 * Follows all matches at the same time. Of those in one state only the one that began first goes on: it covers the
 * others.
 */
function find(states: readonly State[], starts: Uint8Array, text: string, steps: Steps): readonly number[] {
  const found: number[] = []
  const marks = new Int32Array(states.length).fill(-1)
  let current: number[] = []
  let currentStarts: number[] = []
  let next: number[] = []
  let nextStarts: number[] = []
  const open: number[] = []

  /** Adds the states that are reached without a character. */
  function enter(first: number, start: number, at: number): void {
    open.push(first)
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (marks[state] === at) continue
      marks[state] = at
      steps.left -= 1
      const facts = states[state]
      switch (facts?.kind) {
        case 'unit':
          next.push(state)
          nextStarts.push(start)
          break
        case 'split':
          open.push(facts.other, state + 1)
          break
        case 'jump':
          open.push(facts.to)
          break
        case 'assert':
          if (facts.holds(text, at)) open.push(state + 1)
          break
        case 'match':
          cover(found, start, at)
          break
        case undefined:
      }
    }
    if (steps.left < 0) throw new TooManySteps()
  }

  for (let at = 0; at <= text.length; at += 1) {
    const unit = text.charCodeAt(at)
    // The states at this place were found when the character before was read.
    if (unit >= 128 || starts[unit] === 1) enter(0, at, at)
    if (next.length === 0) continue
    ;[current, next] = [next, current]
    ;[currentStarts, nextStarts] = [nextStarts, currentStarts]
    next.length = 0
    nextStarts.length = 0
    for (const [index, state] of current.entries()) {
      const facts = states[state]
      if (facts?.kind === 'unit' && isIn(facts.ranges, unit)) enter(state + 1, currentStarts[index] ?? at, at + 1)
    }
    steps.left -= current.length
  }
  return found
}

/** Adds a match that ends behind all others, and takes in those that it overlaps. */
function cover(found: number[], start: number, end: number): void {
  if (start === end) return
  let from = start
  while (found.length > 0 && (found.at(-1) ?? 0) >= from) {
    from = Math.min(from, found.at(-2) ?? from)
    found.length -= 2
  }
  found.push(from, end)
}
