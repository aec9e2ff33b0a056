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
  /** Checks all contributions together, before one of them is active. @throws {ConfigError} */
  readonly admit?: (contributions: readonly Contribution[]) => void
  /** Called when a reload of an extension failed. */
  readonly onFault: (name: string, error: unknown) => void
}

/** The running extensions. Before their start there are none. */
export class RunningExtensions {
  readonly #all: RunningExtension[] = []
  #version = 0

  /**
   * Starts extensions one after the other. Two extensions must not claim the same slot of the page: at the start that
   * is an error; a later change that does is ignored.
   *
   * @throws {UnknownExtensionError} @throws {ConfigError} @throws {SlotError} when one cannot start; then none runs
   */
  async start({ names, onFault, admit = () => undefined, ...options }: ExtensionsOptions): Promise<void> {
    try {
      for (const name of names) {
        const running = await runExtension({
          ...options,
          name,
          onChange: () => void this.#version++,
          onFault: (error) => onFault(name, error),
          admit: (next) => {
            const claims = this.#all.map((each) => ({ name: each.name, slots: each.contribution?.part?.slots ?? [] }))
            checkClaim({ name, slots: next?.part?.slots ?? [] }, claims)
            const others = this.#all.filter((each) => each.name !== name)
            admit([...others.map(({ contribution }) => contribution), next].filter((each) => each !== undefined))
          },
        })
        this.#all.push(running)
        this.#version++
      }
    } catch (error) {
      await this.close()
      throw error
    }
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
    return this.#all.flatMap(({ contribution }) => contribution ?? [])
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
    for (const running of this.#all) await running.close()
  }
}
