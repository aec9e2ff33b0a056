import type { ReactNode } from 'react'
import { ownWords } from './describe-provider.ts'

/** Text of a provider or a log as a quotation, in the language that it has. */
export function OwnWords({ detail }: { readonly detail?: string | undefined }): ReactNode {
  const words = ownWords(detail)
  if (words === undefined) return null
  return (
    <q className="block [overflow-wrap:anywhere] text-muted">
      <bdi>{words}</bdi>
    </q>
  )
}
