import type { Contribution } from '../../extensions/extension.ts'
import { checkClaim, type Claim } from '../../extensions/slots.ts'
import type { NamedPart } from '../../http/page/boot.ts'
import { guardsOf, type Guard } from '../../http/pass-guards.ts'
import type { KeysContribution } from '../../people/keys/service-keys.ts'
import type { Person } from '../../people/person.ts'
import { runExtension, type ExtensionOptions, type RunningExtension } from './run-extension.ts'

export interface ExtensionsOptions extends Omit<ExtensionOptions, 'name' | 'onFault' | 'admit'> {
  /** In the order of their guards. */
  readonly names: readonly string[]
  /** Checks all contributions together, before one of them is active. @throws {ConfigError} */
  readonly admit?: (contributions: readonly Contribution[]) => void
  /** Called when a reload of an extension failed. */
  readonly onFault: (name: string, error: unknown) => void
}

/** The running extensions. */
export interface RunningExtensions {
  /** In the order of `names`. */
  readonly all: readonly RunningExtension[]
  /** The contributions of those that are on, in that order. */
  readonly contributions: readonly KeysContribution[]
  /** The guards of those. */
  readonly guards: readonly Guard[]
  /** Whether a person whom a guard let pass before may enter now. A person whom no extension knows may not. */
  mayEnter(person: Person): boolean
  /** Their parts of the page. */
  readonly parts: readonly NamedPart[]
  /** Reloads their files, as SIGHUP asks for. Never rejects. */
  reload(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts extensions one after the other. Two extensions must not claim the same slot of the page: at the start that is
 * an error; a later change that does is ignored.
 *
 * @throws {UnknownExtensionError} @throws {ConfigError} @throws {SlotError} when one cannot start; then none runs
 */
export async function runExtensions({
  names,
  onFault,
  admit = () => undefined,
  ...options
}: ExtensionsOptions): Promise<RunningExtensions> {
  const all: RunningExtension[] = []

  function claims(): readonly Claim[] {
    return all.map(({ name, contribution }) => ({ name, slots: contribution?.part?.slots ?? [] }))
  }

  function mayEnter(person: Person): boolean {
    let isKnown = false
    for (const { contribution } of all) {
      if (contribution?.mayEnter === undefined) continue
      if (!contribution.mayEnter(person)) return false
      isKnown = true
    }
    return isKnown
  }

  async function close(): Promise<void> {
    for (const running of all) await running.close()
  }

  try {
    for (const name of names) {
      all.push(
        await runExtension({
          ...options,
          name,
          onFault: (error) => onFault(name, error),
          admit(next) {
            checkClaim({ name, slots: next?.part?.slots ?? [] }, claims())
            const others = all.filter((running) => running.name !== name)
            admit([...others.map(({ contribution }) => contribution), next].filter((each) => each !== undefined))
          },
        }),
      )
    }
  } catch (error) {
    await close()
    throw error
  }
  const contributions = (): readonly KeysContribution[] => all.flatMap(({ contribution }) => contribution ?? [])
  return {
    all,
    get contributions() {
      return contributions()
    },
    get guards() {
      return guardsOf(contributions())
    },
    get parts() {
      return all.flatMap(({ name, contribution }) =>
        contribution?.part === undefined ? [] : [{ extension: name, ...contribution.part }],
      )
    },
    mayEnter,
    async reload() {
      await Promise.all(all.map((running) => running.reload()))
    },
    close,
  }
}
