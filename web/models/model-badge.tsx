import type { ReactNode } from 'react'
import { say } from '../texts/say.ts'
import { Badge } from '../ui/badge.tsx'
import type { ModelBadge } from './model-facts.ts'

const looks = {
  keyMissing: { tone: 'bad', words: say.providers.states.keyMissing },
  overLimit: { tone: 'warn', words: say.models.overLimit },
  noPrice: { tone: 'plain', words: say.providers.noPrice },
} as const satisfies Readonly<Record<ModelBadge, unknown>>

/** A fact that keeps a model from answering. */
export function FactBadge({ fact }: { readonly fact: ModelBadge }): ReactNode {
  const { tone, words } = looks[fact]
  return <Badge tone={tone}>{words}</Badge>
}
