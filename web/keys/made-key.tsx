import { useEffect, useRef, type ReactNode } from 'react'
import type { MadeKeyEntry } from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'

/** A key that was just made, shown once, with the settings for a client program. */
export function MadeKey({ made, onClose }: { readonly made: MadeKeyEntry; readonly onClose: () => void }): ReactNode {
  const box = useRef<HTMLElement>(null)
  const firstModel = useFirstModel()
  useEffect(() => box.current?.focus(), [made])
  return (
    <section
      ref={box}
      tabIndex={-1}
      aria-label={say.keys.newKeyOf(made.name)}
      className="flex flex-col gap-3 rounded-xl border border-accent bg-panel p-4"
    >
      <div>
        <h2 className="font-semibold [overflow-wrap:anywhere]">
          <bdi>{made.name}</bdi>
        </h2>
        <p className="text-sm text-muted">{say.keys.copyNow}</p>
      </div>
      <Line name={say.keys.key} value={made.key} />
      <Line name={say.keys.baseUrl} value={`${location.origin}/v1`} />
      <Line name={say.programKey.tryIt} value={curlLine(made, firstModel)} />
      <p className="text-sm text-muted">{rich(say.keys.withoutV1, { path: <code>/v1</code> })}</p>
      <div>
        <Button onClick={onClose}>{say.keys.copied}</Button>
      </div>
    </section>
  )
}

function Line({ name, value }: { readonly name: string; readonly value: string }): ReactNode {
  return (
    <div className="flex items-center gap-2">
      <div className="min-w-0 flex-1">
        <p className="text-xs text-muted">{name}</p>
        <code className="text-sm break-all">{value}</code>
      </div>
      <CopyButton text={value} label={say.content.copy(name)} />
    </div>
  )
}

function useFirstModel(): string {
  const state = useStore(useServices().models.state)
  return (state.kind === 'ready' ? state.answer.models[0]?.name : undefined) ?? 'MODEL'
}

function curlLine({ key, models }: MadeKeyEntry, firstModel: string): string {
  const model = models?.find((name) => !name.endsWith('*')) ?? firstModel
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: say.programKey.example }] }).replaceAll(
    "'",
    "'\\''",
  )
  return `curl ${location.origin}/v1/chat/completions -H 'Authorization: Bearer ${key}' -d '${body}'`
}
