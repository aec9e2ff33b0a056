import { useId, type ReactNode } from 'react'
import type { LimitsAnswer } from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { smallLook } from '../ui/labelled.tsx'
import {
  amountNames,
  moneyPeriods,
  ratePeriods,
  wholeSubjects,
  type AmountName,
  type LimitFields,
} from './limit-fields.ts'
import { perWords, subjectWords, type Period } from './limit-words.ts'

const wholeWords: Readonly<Record<string, string>> = say.limitForm.subjects
const kinds = say.limitForm.kinds

const firstAmounts = { usd: '$5', requests: '60', tokens: '200000', atOnce: '8' } as const

interface SentenceProps {
  readonly fields: LimitFields
  readonly answer: Pick<LimitsAnswer, 'teams' | 'named'>
  readonly onChange: (fields: LimitFields) => void
}

/** A limit as a sentence with fields in it. */
export function LimitSentence({ fields, answer, onChange }: SentenceProps): ReactNode {
  const id = useId()
  const set = (more: Partial<LimitFields>): void => onChange({ ...fields, ...more })
  const missing = amountNames.filter((name) => fields[name] === undefined)
  const who = <Who subject={fields.subject} answer={answer} onChange={(subject) => set({ subject })} />
  const models = <Models models={fields.models} onChange={(names) => set({ models: names })} />
  const amount = (name: AmountName) => (
    <input
      className={`${smallLook.field} w-28 text-right tabular-nums`}
      aria-label={say.limitForm.amounts[name]}
      inputMode="decimal"
      autoComplete="off"
      value={fields[name] ?? ''}
      onChange={({ target }) => set({ [name]: target.value })}
    />
  )
  const ratePer =
    fields.usd === undefined ? (
      <Per value={fields.ratePer} periods={ratePeriods} onChange={(per) => set({ ratePer: per })} />
    ) : (
      perWords.minute
    )
  const line = 'flex flex-wrap items-center gap-2'
  return (
    <fieldset className="flex min-w-0 flex-col gap-3" aria-label={say.limitForm.theLimit}>
      <div className={line}>
        {fields.usd === undefined
          ? rich(say.limitForm.free, { who, models })
          : rich(say.limitForm.usd, {
              ...{ who, models, amount: amount('usd') },
              per: <Per value={fields.moneyPer} periods={moneyPeriods} onChange={(per) => set({ moneyPer: per })} />,
            })}
        {fields.usd === undefined ? null : <Without name={amountNames[0]} fields={fields} onChange={onChange} />}
      </div>
      {(['requests', 'tokens', 'atOnce'] as const).map((name) =>
        fields[name] === undefined ? null : (
          <div key={name} className={line}>
            {rich(say.limitForm[name], { amount: amount(name), per: ratePer })}
            <Without name={name} fields={fields} onChange={onChange} />
          </div>
        ),
      )}
      <div className="flex flex-wrap gap-2">
        {missing.map((name) => (
          <Button key={name} variant="quiet" icon="plus" onClick={() => set({ [name]: firstAmounts[name] })}>
            {say.limitForm.more[name]}
          </Button>
        ))}
      </div>
      {fields.usd === undefined ? null : (
        <div role="radiogroup" aria-labelledby={`${id}-hard`} className="flex flex-col gap-1">
          <p id={`${id}-hard`} className="font-medium">
            {say.limitForm.usedUp}
          </p>
          {([false, true] as const).map((isHard) => (
            <label key={String(isHard)} className="flex min-h-6 items-center gap-2 text-sm pointer-coarse:min-h-11">
              <input
                type="radio"
                name={`${id}-hard`}
                checked={fields.isHard === isHard}
                onChange={() => set({ isHard })}
              />
              {isHard ? say.limitForm.hard : say.limitForm.soft}
            </label>
          ))}
        </div>
      )}
    </fieldset>
  )
}

/** Takes one amount away, while another one is left. */
function Without({
  name,
  fields,
  onChange,
}: Pick<SentenceProps, 'fields' | 'onChange'> & { readonly name: AmountName }) {
  if (amountNames.filter((each) => fields[each] !== undefined).length < 2) return null
  return (
    <IconButton
      label={say.limitForm.without(say.limitForm.amounts[name])}
      icon="close"
      onClick={() => {
        const { [name]: _, ...others } = fields
        onChange(others)
      }}
    />
  )
}

function Who({
  subject,
  answer: { teams, named },
  onChange,
}: Pick<SentenceProps, 'answer'> & {
  readonly subject: string
  readonly onChange: (subject: string) => void
}): ReactNode {
  const { boot } = useServices()
  const whole = wholeSubjects(boot)
  const single = [...teams.map(({ name }) => ({ for: `team:${name}`, name })), ...named]
  const isKnown = whole.includes(subject) || single.some((each) => each.for === subject)
  return (
    <select
      className={`${smallLook.field} max-w-full`}
      aria-label={say.limits.who}
      value={subject}
      onChange={({ target }) => onChange(target.value)}
    >
      {(isKnown ? whole : [subject, ...whole]).map((each) => (
        <option key={each} value={each}>
          {wholeWords[each] ?? subjectWords(each)}
        </option>
      ))}
      {Object.entries(kinds).map(([kind, label]) => {
        const ofKind = single.filter((each) => each.for.startsWith(`${kind}:`))
        return ofKind.length === 0 ? null : (
          <optgroup key={kind} label={label}>
            {ofKind.map(({ for: value, name }) => (
              <option key={value} value={value}>
                {kind === 'key' ? `${name} (${value})` : name}
              </option>
            ))}
          </optgroup>
        )
      })}
    </select>
  )
}

function Models({
  models,
  onChange,
}: {
  readonly models: string
  readonly onChange: (models: string) => void
}): ReactNode {
  const id = useId()
  const state = useStore(useServices().models.state)
  const known = state.kind === 'ready' ? state.answer.models.map(({ name }) => name) : []
  return (
    <>
      <input
        className={`${smallLook.field} w-48 max-w-full`}
        aria-label={say.limitForm.models}
        placeholder={say.limitForm.allModels}
        list={id}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        value={models}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={id}>
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}

function Per({
  value,
  periods,
  onChange,
}: {
  readonly value: string
  readonly periods: readonly Period[]
  readonly onChange: (per: string) => void
}): ReactNode {
  return (
    <select
      className={smallLook.field}
      aria-label={say.limitForm.period}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      {periods.map((per) => (
        <option key={per} value={per}>
          {perWords[per]}
        </option>
      ))}
    </select>
  )
}
