import { useRef, useState, type FormEvent, type ReactNode } from 'react'
import type { MadeKeyEntry } from '../../src/http/page/page-api.ts'
import { hrefOf, navigate } from '../app/route.ts'
import { View } from '../app/view.tsx'
import { moneyPeriods } from '../limits/limit-fields.ts'
import { perWords } from '../limits/limit-words.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Labelled, smallLook } from '../ui/labelled.tsx'
import { Notice } from '../ui/notice.tsx'
import { modelsIn } from './key-entries.ts'
import { MadeKey } from './made-key.tsx'
import { makeProgramKey, type ProgramKey } from './program-key.ts'

const dayChoices = [7, 30, 90, 365] as const
const keysHref = hrefOf({ view: 'keys' })

/** Makes a key for a program, with a limit of its own, for owners. */
export function MakeProgramKey(): ReactNode {
  const { client, boot } = useServices()
  const hasLimits = boot.hasLimits === true
  const nameField = useRef<HTMLInputElement>(null)
  const [fields, setFields] = useState({
    name: '',
    models: '',
    days: 90,
    usd: hasLimits ? '$10' : '',
    per: 'month',
  })
  const [made, setMade] = useState<MadeKeyEntry>()
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const set = (more: Partial<typeof fields>): void => setFields({ ...fields, ...more })

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setFailure(undefined)
    try {
      setMade(await makeProgramKey(client, { ...fields, name: fields.name.trim(), models: modelsIn(fields.models) }))
    } catch (error) {
      setFailure(messageOf(error))
      nameField.current?.focus()
    }
    setBusy(false)
  }

  return (
    <View title={say.programKey.title} within={{ title: say.views.keys, href: keysHref }}>
      {made === undefined ? (
        <div className="grid items-start gap-6 @3xl:grid-cols-[3fr_2fr]">
          <form className="flex min-w-0 flex-col gap-5" noValidate onSubmit={(event) => void submit(event)}>
            {failure === undefined ? null : (
              <Notice kind="error" title={say.programKey.failed}>
                {failure}
              </Notice>
            )}
            <Labelled label={say.programKey.whatFor} look={smallLook}>
              {(field) => (
                <input
                  {...field}
                  ref={nameField}
                  value={fields.name}
                  maxLength={64}
                  autoComplete="off"
                  onChange={({ target }) => set({ name: target.value })}
                />
              )}
            </Labelled>
            <Sentence fields={fields} hasLimits={hasLimits} set={set} />
            <div className="flex flex-wrap gap-2">
              <Button type="submit" variant="primary" aria-disabled={isBusy}>
                {say.programKey.make}
              </Button>
              <ButtonLink href={keysHref}>{say.common.cancel}</ButtonLink>
            </div>
          </form>
          <WhatHappens hasLimits={hasLimits} />
        </div>
      ) : (
        <MadeKey made={made} onClose={() => navigate({ view: 'keys', id: 'all' })} />
      )}
    </View>
  )
}

function WhatHappens({ hasLimits }: { readonly hasLimits: boolean }): ReactNode {
  return (
    <section className="flex flex-col gap-2 rounded-xl border border-line bg-panel p-4 text-sm text-muted">
      <h2 className="text-base font-medium text-ink">{say.programKey.whatHappens}</h2>
      <p>{say.programKey.shownOnce}</p>
      {hasLimits ? <p>{say.programKey.limitIsLine}</p> : null}
    </section>
  )
}

interface SentenceProps {
  readonly fields: Omit<ProgramKey, 'models' | 'name'> & { readonly models: string }
  readonly hasLimits: boolean
  readonly set: (more: Partial<SentenceProps['fields']>) => void
}

/** The rights of the key, as a sentence with fields in it. */
function Sentence({ fields, hasLimits, set }: SentenceProps): ReactNode {
  const small = `${smallLook.field} max-w-full`
  const parts = {
    models: (
      <input
        className={`${small} w-48`}
        aria-label={say.limitForm.models}
        placeholder={say.limitForm.allModels}
        spellCheck={false}
        autoCapitalize="none"
        value={fields.models}
        onChange={({ target }) => set({ models: target.value })}
      />
    ),
    days: (
      <select
        className={small}
        aria-label={say.programKey.days}
        value={fields.days}
        onChange={({ target }) => set({ days: Number(target.value) })}
      >
        {dayChoices.map((days) => (
          <option key={days} value={days}>
            {say.programKey.forDays(days)}
          </option>
        ))}
      </select>
    ),
    usd: (
      <input
        className={`${small} w-28 text-right tabular-nums`}
        aria-label={say.limitForm.amounts.usd}
        placeholder={say.programKey.noLimit}
        inputMode="decimal"
        value={fields.usd}
        onChange={({ target }) => set({ usd: target.value })}
      />
    ),
    per: (
      <select
        className={small}
        aria-label={say.limitForm.period}
        value={fields.per}
        onChange={({ target }) => set({ per: target.value })}
      >
        {moneyPeriods.map((per) => (
          <option key={per} value={per}>
            {perWords[per]}
          </option>
        ))}
      </select>
    ),
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      {rich(hasLimits ? say.programKey.sentence : say.programKey.withoutLimit, parts)}
    </div>
  )
}
