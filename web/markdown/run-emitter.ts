import type { Emitter } from 'highlight.js'

/** Text of one colour. `colour`: a class of `code.css`. */
export interface ColouredRun {
  readonly text: string
  readonly colour: string | undefined
}

// Colours by the first word of a scope (https://highlightjs.readthedocs.io/en/stable/css-classes-reference.html).
// Unlisted scopes inherit the surrounding colour.
const colours: ReadonlyMap<string, string | undefined> = new Map([
  ...coloured('keyword', 'keyword operator selector-tag name'),
  ...coloured('string', 'string regexp char link code'),
  ...coloured('number', 'number literal symbol bullet'),
  ...coloured('comment', 'comment doctag quote'),
  ...coloured('title', 'title section selector-id selector-class'),
  ...coloured('type', 'type built_in class template-tag selector-pseudo'),
  ...coloured('attribute', 'attr attribute variable property template-variable selector-attr'),
  ...coloured('meta', 'meta'),
  ...coloured('addition', 'addition'),
  ...coloured('deletion', 'deletion'),
  ['params', undefined],
  ['subst', undefined],
])

function coloured(colour: string, scopes: string): [string, string][] {
  return scopes.split(' ').map((scope) => [scope, `code-${colour}`])
}

/** Collects the output of the highlighter as runs instead of markup. */
export class RunEmitter implements Emitter {
  /** Coloured runs, in the order of the code. */
  readonly runs: ColouredRun[] = []
  readonly #scopes: (string | undefined)[] = []

  /** Opens a scope such as `title.function`. */
  startScope(name: string): void {
    const scope = name.split('.', 1)[0] ?? ''
    this.#scopes.push(colours.has(scope) ? colours.get(scope) : this.#scopes.at(-1))
  }

  /** Closes the innermost scope. */
  endScope(): void {
    this.#scopes.pop()
  }

  /** Alias of `startScope`; the highlighter uses both names. */
  openNode(name: string): void {
    this.startScope(name)
  }

  /** Alias of `endScope`. */
  closeNode(): void {
    this.endScope()
  }

  /** Adds text within the open scopes. */
  addText(text: string): void {
    this.#add({ text, colour: this.#scopes.at(-1) })
  }

  /** Adds the runs of an embedded language. */
  __addSublanguage(emitter: Emitter): void {
    if (!(emitter instanceof RunEmitter)) return
    for (const run of emitter.runs)
      this.#add(run.colour === undefined ? { text: run.text, colour: this.#scopes.at(-1) } : run)
  }

  /** Required by the interface; does nothing. */
  finalize(): void {}

  /** Required by the interface; not used. */
  toHTML(): string {
    return ''
  }

  #add(run: ColouredRun): void {
    const last = this.runs.at(-1)
    if (run.text === '') return
    if (last !== undefined && last.colour === run.colour)
      this.runs[this.runs.length - 1] = { text: last.text + run.text, colour: run.colour }
    else this.runs.push(run)
  }
}
