import { useRef, useState } from 'react'
import type { RefusedFile } from '../images/attach.ts'
import { announce } from '../ui/announce.ts'
import type { DraftState } from './use-draft.ts'

/** Images being attached to a draft. */
export interface Attachments {
  readonly isReading: boolean
  readonly refused: readonly RefusedFile[]
  readonly add: (files: readonly File[]) => void
  readonly dismiss: () => void
}

/** Reads files sequentially and attaches those that are images. */
export function useAttachments({ current, change }: Pick<DraftState, 'current' | 'change'>): Attachments {
  const [pending, setPending] = useState(0)
  const [refused, setRefused] = useState<readonly RefusedFile[]>([])
  const last = useRef(Promise.resolve())

  async function read(files: readonly File[]): Promise<void> {
    try {
      const { readImages } = await import('../images/attach.ts')
      const { images, refused: not } = await readImages(files, { attached: current().images })
      setRefused(not)
      if (images.length === 0) return
      change((draft) => ({ ...draft, images: [...draft.images, ...images] }))
      announce(images.length === 1 ? 'Picture added' : `${images.length} pictures added`)
    } catch {
      // The chunk that reads images did not load.
      setRefused(files.map(({ name }) => ({ name, why: 'It could not be read. Try again.' })))
    } finally {
      setPending((count) => count - 1)
    }
  }

  function add(files: readonly File[]): void {
    if (files.length === 0) return
    setPending((count) => count + 1)
    last.current = last.current.then(() => read(files))
  }

  return { isReading: pending > 0, refused, add, dismiss: () => setRefused([]) }
}
