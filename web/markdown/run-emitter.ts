import type { Emitter } from 'highlight.js'

/** Text of one colour. `colour`: a class of `code.css`. */
export interface Run {
  readonly text: string
  readonly colour: string | undefined
}

// By the first word of a scope (https://highlightjs.readthedocs.io/en/stable/css-classes-reference.html). Scopes that are not here look like what is around them.
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

/** Takes what the highlighter finds as a list of runs, instead of as markup. */
export class RunEmitter implements Emitter {
  /** What was found, in the order of the code. */
  readonly runs: Run[] = []
  readonly #scopes: (string | undefined)[] = []

  /** Begins a scope such as `title.function`, within those that are open. */
  startScope(name: string): void {
    const scope = name.split('.', 1)[0] ?? ''
    this.#scopes.push(colours.has(scope) ? colours.get(scope) : this.#scopes.at(-1))
  }

  /** Ends the innermost scope. */
  endScope(): void {
    this.#scopes.pop()
  }

  /** The same as `startScope`; the highlighter calls it by both names. */
  openNode(name: string): void {
    this.startScope(name)
  }

  /** The same as `endScope`. */
  closeNode(): void {
    this.endScope()
  }

  /** Adds text within the open scopes. */
  addText(text: string): void {
    this.#add({ text, colour: this.#scopes.at(-1) })
  }

  /** Adds what another emitter took of a language within this one. */
  __addSublanguage(emitter: Emitter): void {
    if (!(emitter instanceof RunEmitter)) return
    for (const run of emitter.runs)
      this.#add(run.colour === undefined ? { text: run.text, colour: this.#scopes.at(-1) } : run)
  }

  /** Nothing is left to do at the end. */
  finalize(): void {}

  /** Nothing asks for markup. */
  toHTML(): string {
    return ''
  }

  #add(run: Run): void {
    const last = this.runs.at(-1)
    if (run.text === '') return
    if (last !== undefined && last.colour === run.colour)
      this.runs[this.runs.length - 1] = { text: last.text + run.text, colour: run.colour }
    else this.runs.push(run)
  }
}
