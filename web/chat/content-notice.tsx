import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { keptTime } from '../ui/kept-time.ts'

/** Says that content of the visitor's requests is kept. */
export function ContentNotice({ keptMs }: { readonly keptMs: number }): ReactNode {
  return <p className="text-center text-xs text-muted">{say.content.isKept(keptTime(keptMs))}</p>
}
