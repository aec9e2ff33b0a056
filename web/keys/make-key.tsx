import { useId, useState, type FormEvent, type ReactNode } from 'react'
import type { MadeKeyEntry } from '../../src/http/page/page-api.ts'
import { ApiError } from '../api/client.ts'
import { messageOf } from '../message-of.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { modelsIn } from './key-entries.ts'
import type { KeyRequest, KeysState } from './use-keys.ts'

interface MakeKeyProps {
  readonly ceilings: NonNullable<KeysState['ceilings']>
  /** Keys of the person or team that are in use. */
  readonly inUse: number
  readonly make: KeysState['make']
  readonly onMade: (made: MadeKeyEntry) => void
}

/** Makes a key of one's own, or of a team. The service checks the fields, and names the one that it refuses. */
export function MakeKey({ ceilings, inUse, make, onMade }: MakeKeyProps): ReactNode {
  const { most, days_most: daysMost } = ceilings
  const id = useId()
  const [name, setName] = useState('')
  const [days, setDays] = useState(String(daysMost))
  const [models, setModels] = useState('')
  const [readsUse, setReadsUse] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [fault, setFault] = useState<{ readonly field: string; readonly text: string }>()

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setFault(undefined)
    try {
      onMade(await make(requestOf({ name, days, models, readsUse })))
      setName('')
      setModels('')
    } catch (error) {
      const field = error instanceof ApiError ? (error.param ?? '') : ''
      setFault({ field, text: messageOf(error) })
      document.getElementById(`${id}-${field}`)?.focus()
    }
    setBusy(false)
  }

  if (most === 0) return <p className="text-sm text-muted">{say.keys.makeNone}</p>
  const field = (of: string) => ({
    id: `${id}-${of}`,
    'aria-invalid': fault?.field === of,
    'aria-describedby': `${id}-fault`,
    className: 'w-full min-h-9 rounded-lg border border-muted bg-page px-2 text-base pointer-coarse:min-h-11',
    autoComplete: 'off',
  })
  return (
    <form
      className="flex flex-col gap-3 rounded-xl border border-line bg-panel p-4"
      aria-label={say.keys.newKey}
      onSubmit={(event) => void submit(event)}
    >
      <div className="grid grid-cols-1 gap-3 @md:grid-cols-[2fr_1fr_2fr]">
        <Labelled id={`${id}-name`} label={say.common.name}>
          <input {...field('name')} value={name} maxLength={64} onChange={({ target }) => setName(target.value)} />
        </Labelled>
        <Labelled id={`${id}-days`} label={say.keys.days(String(daysMost))}>
          <input {...field('days')} value={days} inputMode="numeric" onChange={({ target }) => setDays(target.value)} />
        </Labelled>
        <Labelled id={`${id}-models`} label={say.keys.modelsField}>
          <input
            {...field('models')}
            value={models}
            placeholder="gpt-5*, claude-haiku-4-5"
            spellCheck={false}
            autoCapitalize="none"
            onChange={({ target }) => setModels(target.value)}
          />
        </Labelled>
      </div>
      <label className="flex items-center gap-2 text-sm pointer-coarse:min-h-11">
        <input type="checkbox" checked={readsUse} onChange={({ target }) => setReadsUse(target.checked)} />
        {say.keys.alsoReadsUse}
      </label>
      <p id={`${id}-fault`} role="alert" className="text-sm text-bad [overflow-wrap:anywhere] empty:hidden">
        {fault?.text}
      </p>
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" variant="primary" icon="plus" aria-disabled={isBusy}>
          {say.keys.make}
        </Button>
        <span className="text-sm text-muted">{say.keys.inUse(String(inUse), String(most))}</span>
      </div>
    </form>
  )
}

interface Fields {
  readonly name: string
  readonly days: string
  readonly models: string
  readonly readsUse: boolean
}

/** The service refuses invalid numbers, as it does other invalid values. */
function requestOf({ name, days, models, readsUse }: Fields): KeyRequest {
  const names = modelsIn(models)
  return {
    name: name.trim(),
    days: /^\d{1,6}$/.test(days.trim()) ? Number(days) : 0,
    ...(names.length === 0 ? {} : { models: names }),
    scopes: ['chat', 'models:read', ...(readsUse ? ['usage:read'] : [])],
  }
}

function Labelled({
  id,
  label,
  children,
}: {
  readonly id: string
  readonly label: string
  readonly children: ReactNode
}): ReactNode {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children}
    </div>
  )
}
