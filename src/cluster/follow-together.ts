import type { Followed, FollowFile } from '../config/follow-file.ts'
import { readDate, readFingerprint } from '../config/watch-config.ts'
import { withinMs } from '../service/within.ts'
import type { Channel } from './channel.ts'
import { fromFileFault, toFileFault } from './file-fault.ts'
import type { FileCoordinatorAnswers, FileFollowerAnswers } from './file-messages.ts'

interface Entry {
  prepare(): Promise<string>
  takeOver(isSpeaker: boolean): Promise<void>
  keep(error: Error, isSpeaker: boolean): Promise<void>
}

const readsMost = 5
/** A primary that stands still answers nothing; whoever waits for a reload goes on without it. */
const reloadMs = 90_000

/** Follows files together with the other workers: all put a change in force, or none does. The primary watches. */
export function followTogether(primary: Pick<Channel<FileCoordinatorAnswers>, 'ask'>): {
  readonly follow: FollowFile
  readonly answers: FileFollowerAnswers
} {
  const entries = new Map<string, Entry>()

  const follow: FollowFile = (followed) => {
    const { path } = followed
    const entry = entryOf(followed)
    entries.set(path, entry)
    return {
      ready: primary.ask('follow', path),
      // Whoever asks learns of faults as all others do: by report.
      reload: () =>
        withinMs(
          primary.ask('reload', path).catch(() => undefined),
          reloadMs,
        ).then(() => undefined),
      close: () => void (entries.get(path) === entry && entries.delete(path)),
    }
  }

  return {
    follow,
    answers: {
      async prepare(path) {
        try {
          const entry = entries.get(path)
          return entry === undefined ? undefined : { fingerprint: await entry.prepare() }
        } catch (error) {
          return { fault: toFileFault(error) }
        }
      },
      takeOver: async ({ path, isSpeaker }) => await entries.get(path)?.takeOver(isSpeaker),
      keep: async ({ path, fault, isSpeaker }) => await entries.get(path)?.keep(fromFileFault(fault), isSpeaker),
    },
  }
}

function entryOf<Value>({ path, load, apply, report, discard }: Followed<Value>): Entry {
  let staged: { readonly value: Value } | undefined

  async function letGo(): Promise<void> {
    const before = staged
    staged = undefined
    if (before !== undefined) await discard?.(before.value)
  }

  return {
    async prepare() {
      await letGo()
      // The file must be the same before and after, or nobody knows which one was loaded.
      for (let read = 1; read <= readsMost; read++) {
        const date = await readDate(path),
          before = await readFingerprint(path)
        staged = { value: await load() }
        if ((await readDate(path)) === date && (await readFingerprint(path)) === before) return before
        await letGo()
      }
      throw new Error(`${path} changes faster than it can be read`)
    },
    async takeOver(isSpeaker) {
      const taken = staged
      staged = undefined
      if (taken === undefined) return
      try {
        await apply(taken.value, isSpeaker)
      } catch (error) {
        await report(error, isSpeaker)
      }
    },
    async keep(error, isSpeaker) {
      await letGo()
      await report(error, isSpeaker)
    },
  }
}
