import type { Contribution } from '../extensions/extension.ts'
import { checkClaim, type Claim } from '../extensions/slots.ts'
import type { NamedPart } from '../http/boot.ts'
import { runExtension, type ExtensionOptions, type RunningExtension } from './run-extension.ts'

/** What {@link runExtensions} needs: what each of them does, but for its name. */
export interface ExtensionsOptions extends Omit<ExtensionOptions, 'name' | 'onFault' | 'admit'> {
  /** In the order in which their guards are asked. */
  readonly names: readonly string[]
  /** Told when a changed file of an extension was not taken over. */
  readonly onFault: (name: string, error: unknown) => void
}

/** The extensions that were asked for, at work. */
export interface RunningExtensions {
  /** In the order they were named in. */
  readonly all: readonly RunningExtension[]
  /** What those that are on add now, in that order. */
  readonly contributions: readonly Contribution[]
  /** What those that are on bring to the page. */
  readonly parts: readonly NamedPart[]
  /** Read their files again, as SIGHUP asks for. Never rejects. */
  reload(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts extensions, one after the other. No two of them are on with a claim to the same slot of the page: at the start
 * that is an error, later what was in force stays.
 *
 * @throws {UnknownExtension} @throws {ConfigError} @throws {SlotFault} when one of them cannot start; then none runs
 */
export async function runExtensions({ names, onFault, ...options }: ExtensionsOptions): Promise<RunningExtensions> {
  const all: RunningExtension[] = []

  function claims(): readonly Claim[] {
    return all.map(({ name, contribution }) => ({ name, slots: contribution?.part?.slots ?? [] }))
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
          admit: ({ part }) => checkClaim({ name, slots: part?.slots ?? [] }, claims()),
        }),
      )
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    all,
    get contributions() {
      return all.flatMap(({ contribution }) => contribution ?? [])
    },
    get parts() {
      return all.flatMap(({ name, contribution }) =>
        contribution?.part === undefined ? [] : [{ extension: name, ...contribution.part }],
      )
    },
    async reload() {
      await Promise.all(all.map((running) => running.reload()))
    },
    close,
  }
}
