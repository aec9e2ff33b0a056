import type { Contribution, SignedInPeople } from '../../extensions/extension.ts'
import { checkClaim } from '../../extensions/slots.ts'
import type { NamedPart } from '../../http/page/boot.ts'
import { guardsOf, type Guard } from '../../http/pass-guards.ts'
import type { KeysContribution } from '../../people/keys/service-keys.ts'
import type { Person } from '../../people/person.ts'
import { runExtension, type ExtensionOptions, type RunningExtension } from './run-extension.ts'

export interface ExtensionsOptions extends Omit<ExtensionOptions, 'name' | 'onChange' | 'onFault' | 'admit'> {
  /** In the order of their guards. */
  readonly names: readonly string[]
  /** Checks all contributions together, before any of them is active. @throws {ConfigError} */
  readonly admit?: (contributions: readonly Contribution[]) => void
  /** Called when a reload of an extension failed. */
  readonly onFault: (name: string, error: unknown) => void
}

/** Names of extensions. */
export interface Switched {
  readonly added: readonly string[]
  readonly ended: readonly string[]
}

/** The running extensions. Before their start there are none. */
export class RunningExtensions {
  #all: readonly RunningExtension[] = []
  /** Those that are to run from the next {@link switch} on. */
  #next: readonly RunningExtension[] | undefined
  #version = 0
  #options: Omit<ExtensionsOptions, 'names'> | undefined
  #starting: Promise<void> = Promise.resolve()
  readonly #listeners = new Set<() => void>()

  /**
   * Starts extensions one after the other. Two extensions must not claim the same slot of the page: at the start that
   * is an error; a later change that does is ignored.
   *
   * @throws {UnknownExtensionError} @throws {ConfigError} @throws {SlotError} when one cannot start; then none runs
   */
  async start({ names, ...options }: ExtensionsOptions): Promise<void> {
    this.#options = options
    const started = this.#prepare(names, options).then(() => void this.switch(options.admit))
    this.#starting = started.catch(() => undefined)
    await started
  }

  /**
   * Starts those of `names` that do not run, without effect until {@link switch}. Before the start, does nothing.
   *
   * @throws as {@link start} does; then nothing has changed
   */
  async prepare(names: readonly string[]): Promise<void> {
    await this.#starting
    if (this.#options !== undefined) await this.#prepare(names, this.#options)
  }

  /**
   * From now on, the prepared extensions run, and no others.
   *
   * @param admit checks their contributions, and gets those of before if others run now. If it throws, nothing has
   *   changed
   * @returns `undefined`: nothing changed
   */
  switch(
    admit?: (contributions: readonly Contribution[], earlier?: readonly Contribution[]) => void,
  ): Switched | undefined {
    const before = this.#all
    const after = this.#next ?? before
    this.#next = undefined
    const added = after.filter((each) => !before.includes(each))
    const ended = before.filter((each) => !after.includes(each))
    const isChange = added.length + ended.length > 0
    try {
      admit?.(contributionsOf(after), isChange ? contributionsOf(before) : undefined)
    } catch (error) {
      void closeAll(added)
      throw error
    }
    this.#all = after
    if (!isChange) return undefined
    this.#version++
    void closeAll(ended)
    for (const listener of this.#listeners) listener()
    return { added: added.map(({ name }) => name), ended: ended.map(({ name }) => name) }
  }

  /** Calls the listener after each {@link switch} that changes which extensions run. */
  onSwitch(listener: () => void): void {
    this.#listeners.add(listener)
  }

  async #prepare(names: readonly string[], options: Omit<ExtensionsOptions, 'names'>): Promise<void> {
    const next: RunningExtension[] = []
    try {
      for (const name of names) {
        const running = this.#all.find((each) => each.name === name)
        next.push(running ?? (await this.#run(name, next, options)))
      }
      this.#next = next
    } catch (error) {
      await closeAll(next.filter((each) => !this.#all.includes(each)))
      throw error
    }
  }

  /** @param beside the extensions that are prepared with it */
  #run(
    name: string,
    beside: readonly RunningExtension[],
    { onFault, admit, ...options }: Omit<ExtensionsOptions, 'names'>,
  ): Promise<RunningExtension> {
    return runExtension({
      ...options,
      name,
      onChange: () => void this.#version++,
      onFault: (error) => onFault(name, error),
      admit: (next) => {
        const isActive = this.#all.some((each) => each.name === name)
        const others = (isActive ? this.#all : beside).filter((each) => each.name !== name)
        const claims = others.map((each) => ({ name: each.name, slots: each.contribution?.part?.slots ?? [] }))
        checkClaim({ name, slots: next?.part?.slots ?? [] }, claims)
        // Those that are only prepared are admitted together.
        if (isActive) admit?.([...contributionsOf(others), ...(next === undefined ? [] : [next])])
      },
    })
  }

  /** Another number after each change of a contribution. */
  get version(): number {
    return this.#version
  }

  /** In the order of `names`. */
  get all(): readonly RunningExtension[] {
    return this.#all
  }

  /** The contributions of those that are on, in that order. */
  get contributions(): readonly KeysContribution[] {
    return contributionsOf(this.#all)
  }

  /** The people who have signed in. `undefined` without sign-in. */
  get people(): SignedInPeople | undefined {
    return this.contributions.find(({ people }) => people !== undefined)?.people
  }

  /** The guards of those. */
  get guards(): readonly Guard[] {
    return guardsOf(this.contributions)
  }

  /** Their parts of the page. */
  get parts(): readonly NamedPart[] {
    return this.#all.flatMap(({ name, contribution }) =>
      contribution?.part === undefined ? [] : [{ extension: name, ...contribution.part }],
    )
  }

  /** Whether a person whom a guard let pass before may enter now. A person whom no extension knows may not. */
  mayEnter(person: Person): boolean {
    const answers = this.contributions.flatMap((each) => each.mayEnter?.(person) ?? [])
    return answers.length > 0 && answers.every((may) => may)
  }

  /** Reloads their files, as SIGHUP asks for. Never rejects. */
  async reload(): Promise<void> {
    await Promise.all(this.#all.map((running) => running.reload()))
  }

  async close(): Promise<void> {
    await closeAll(new Set([...this.#all, ...(this.#next ?? [])]))
  }
}

function contributionsOf(extensions: readonly RunningExtension[]): readonly KeysContribution[] {
  return extensions.flatMap(({ contribution }) => contribution ?? [])
}

async function closeAll(extensions: Iterable<RunningExtension>): Promise<void> {
  for (const running of extensions) await running.close()
}
