import { useId, useState, type ReactNode } from 'react'
import type { LogChoices } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { formatCount, inWords } from '../ui/format.ts'
import { Choice, Labelled, smallLook, type FieldLook } from '../ui/labelled.tsx'
import { readLocalMinute, writeLocalMinute } from '../ui/local-time.ts'
import {
  choiceOptions,
  countFilters,
  outcomes,
  type Choice as ChoiceName,
  type TimeBound,
  type Outcome,
  type Minimum,
  type RequestFilters,
} from './filter-requests.ts'
import type { RequestRow } from './request-rows.ts'

export interface RequestFilterBarProps {
  readonly rows: readonly RequestRow[]
  /** Names of stored requests. */
  readonly choices?: LogChoices | undefined
  readonly filters: RequestFilters
  readonly onChange: (filters: RequestFilters) => void
  readonly onClear: () => void
}

const outcomeTexts: Readonly<Record<Outcome, string>> = say.requests.outcomes
const labels: Readonly<Record<ChoiceName, string>> = {
  status: say.common.status,
  model: say.common.model,
  provider: say.requests.providerTried,
  user: say.requests.user,
  error: say.requests.error,
  api: say.requests.format,
}
const minimumLabels: Readonly<Record<Minimum, string>> = say.requests.minimums
const minimums = ['firstTokenMsMin', 'totalMsMin', 'tokensMin', 'costMin'] as const satisfies readonly Minimum[]
const timeLabels: Readonly<Record<TimeBound, string>> = { from: say.requests.from, to: say.requests.to }
const timeBounds = ['from', 'to'] as const satisfies readonly TimeBound[]
const all: Readonly<Record<ChoiceName, string>> = say.requests.all
const look: FieldLook = {
  box: 'min-w-0',
  label: 'block text-xs text-muted',
  field: `${smallLook.field} w-full min-w-0 @2xl:text-sm pointer-coarse:text-base`,
}

/** Filters for every column, behind a button. Each option shows how many requests it would leave. */
export function RequestFilterBar({
  rows,
  choices: stored,
  filters,
  onChange,
  onClear,
}: RequestFilterBarProps): ReactNode {
  const count = countFilters(filters)
  const [isOpen, setOpen] = useState(false)
  const panel = useId()
  const hasUsers =
    filters.user !== '' ||
    rows.some(({ request }) => request.user !== undefined) ||
    (stored !== undefined && stored.people.length + stored.keys.length > 0)
  const choices: readonly ChoiceName[] = hasUsers
    ? ['status', 'model', 'provider', 'user', 'error', 'api']
    : ['status', 'model', 'provider', 'error', 'api']
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        <Button icon="sliders" aria-expanded={isOpen} aria-controls={panel} onClick={() => setOpen(!isOpen)}>
          {count === 0 ? say.requests.filters : say.requests.filtersSet(count)}
        </Button>
        {count === 0 ? null : (
          <Button icon="close" onClick={onClear}>
            {say.common.clearFilters}
          </Button>
        )}
      </div>
      <div id={panel} role="group" aria-label={say.requests.filters} hidden={!isOpen}>
        <div className="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-3">
          {choices.map((choice) => (
            <ChoiceField
              key={choice}
              choice={choice}
              rows={rows}
              choices={stored}
              filters={filters}
              onChange={onChange}
            />
          ))}
          <Labelled label={say.requests.text} look={look}>
            {(field) => (
              <input
                {...field}
                type="search"
                placeholder={say.requests.textHint}
                value={filters.text}
                onChange={({ target }) => onChange({ ...filters, text: target.value })}
              />
            )}
          </Labelled>
          {timeBounds.map((bound) => (
            <Labelled key={bound} label={timeLabels[bound]} look={{ ...look, box: 'col-span-2 min-w-0' }}>
              {(field) => (
                <input
                  {...field}
                  type="datetime-local"
                  value={writeLocalMinute(filters[bound])}
                  onChange={({ target }) => onChange({ ...filters, [bound]: readLocalMinute(target.value) })}
                />
              )}
            </Labelled>
          ))}
          {minimums.map((minimum) => (
            <MinimumField
              key={minimum}
              label={minimumLabels[minimum]}
              value={filters[minimum]}
              onChange={(value) => onChange({ ...filters, [minimum]: value })}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

function ChoiceField({
  choice,
  rows,
  choices,
  filters,
  onChange,
}: Omit<RequestFilterBarProps, 'onClear'> & { readonly choice: ChoiceName }): ReactNode {
  const options = choiceOptions(rows, filters, choice)
  const older = storedOptions(choices, choice).filter((value) => !options.some((option) => option.value === value))
  return (
    <Choice
      label={labels[choice]}
      look={look}
      value={filters[choice]}
      options={[
        ['', all[choice]],
        ...options.map(({ value, count }) => [value, `${wordsOf(choice, value)} (${formatCount(count)})`] as const),
        ...older.map((value) => [value, wordsOf(choice, value)] as const),
      ]}
      onChange={(value) => onChange({ ...filters, [choice]: value })}
    />
  )
}

/** Values that only older requests may have. */
function storedOptions(choices: LogChoices | undefined, choice: ChoiceName): readonly string[] {
  if (choices === undefined) return []
  const { models, providers, people, keys, errors, apis } = choices
  const options: Readonly<Record<ChoiceName, readonly string[]>> = {
    status: outcomes,
    model: models,
    provider: providers,
    user: [...people, ...keys.map((name) => `key:${name}`)],
    error: errors,
    api: apis,
  }
  return options[choice]
}

interface FilterNumberProps {
  readonly label: string
  /** 0 if not set. */
  readonly value: number
  readonly onChange: (value: number) => void
}

function MinimumField({ label, value, onChange }: FilterNumberProps): ReactNode {
  const [typed, setTyped] = useState('')
  // Keeps the typed text, such as `0.0`, until the filter changes in another way.
  const text = readNumber(typed) === value ? typed : value === 0 ? '' : String(value)
  return (
    <Labelled label={label} look={look}>
      {(field) => (
        <input
          {...field}
          inputMode="decimal"
          autoComplete="off"
          placeholder="0"
          value={text}
          onChange={({ target }) => {
            setTyped(target.value)
            onChange(readNumber(target.value))
          }}
        />
      )}
    </Labelled>
  )
}

/** Parses a number; 0 if it is invalid. Accepts a decimal comma. */
function readNumber(text: string): number {
  const value = Number(text.trim().replace(',', '.'))
  return Number.isFinite(value) && value > 0 ? value : 0
}

function wordsOf(choice: ChoiceName, value: string): string {
  if (choice === 'status') return isOutcome(value) ? outcomeTexts[value] : value
  return choice === 'error' ? inWords(value) : value
}

function isOutcome(value: string): value is Outcome {
  return Object.hasOwn(outcomeTexts, value)
}
