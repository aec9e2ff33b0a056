import type { ReactNode } from 'react'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'

/** Saves an answer of the service as a file. @param path of the request of this moment */
export function SaveButton({ path, name }: { readonly path: () => string; readonly name: string }): ReactNode {
  const { client } = useServices()

  async function save(): Promise<void> {
    try {
      const response = await client.fetch(path())
      const link = document.createElement('a')
      link.href = URL.createObjectURL(await response.blob())
      link.download = name
      link.click()
      // The browser may still be reading it.
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    } catch (error) {
      announce(say.usage.notSaved(messageOf(error)))
    }
  }

  return (
    <Button icon="download" isShort onClick={() => void save()}>
      CSV
    </Button>
  )
}
