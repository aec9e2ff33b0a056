import { useRef, useState } from 'react'
import type { RefusedFile } from '../images/attach.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import type { DraftState } from './use-draft.ts'

/** Files being attached to a draft. */
export interface Attachments {
  /** What is being read, such as `report.pdf, page 3 of 120`; empty at first. Absent: nothing. */
  readonly reading?: string | undefined
  readonly refused: readonly RefusedFile[]
  readonly add: (files: readonly File[]) => void
  /** Leaves out what is not read yet. */
  readonly cancel: () => void
  readonly dismiss: () => void
}

/** Reads files one after the other, and attaches those that can be sent. */
export function useAttachments({ current, change }: Pick<DraftState, 'current' | 'change'>): Attachments {
  const [pending, setPending] = useState(0)
  const [progress, setProgress] = useState('')
  const [refused, setRefused] = useState<readonly RefusedFile[]>([])
  const last = useRef(Promise.resolve())
  const abort = useRef(new AbortController())

  async function read(given: readonly File[], signal: AbortSignal): Promise<void> {
    try {
      const { readFiles } = await import('../files/read-files.ts')
      const found = await readFiles(given, { attached: current(), signal, onProgress: setProgress })
      setRefused(found.refused)
      const { images, files } = found
      if (images.length + files.length === 0) return
      change(({ files: before = [], ...draft }) => ({
        ...draft,
        images: [...draft.images, ...images],
        files: [...before, ...files],
      }))
      announce(added(images.length, files.length))
    } catch {
      // The chunk that reads files did not load.
      setRefused(given.map(({ name }) => ({ name, why: say.chat.readFailed })))
    } finally {
      setPending((count) => count - 1)
    }
  }

  function add(given: readonly File[]): void {
    if (given.length === 0) return
    setPending((count) => count + 1)
    const { signal } = abort.current
    last.current = last.current.then(() => read(given, signal))
  }

  return {
    reading: pending > 0 ? progress : undefined,
    refused,
    add,
    cancel() {
      abort.current.abort()
      abort.current = new AbortController()
    },
    dismiss: () => setRefused([]),
  }
}

function added(images: number, files: number): string {
  return files === 0 ? say.chat.pictureAdded(images) : say.chat.filesAdded(images + files)
}
