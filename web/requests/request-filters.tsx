import { useId, useState, type ReactNode } from 'react'
import type { LogChoices } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { formatCount, inWords } from '../ui/format.ts'
import {
  choiceOptions,
  countFilters,
  outcomes,
  type Choice,
  type TimeBound,
  type Outcome,
  type Minimum,
  type RequestFilters,
} from './filter-requests.ts'
import { readLocalMinute, writeLocalMinute } from './local-minute.ts'
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
const labels: Readonly<Record<Choice, string>> = {
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
const all: Readonly<Record<Choice, string>> = say.requests.all
const field =
  'min-h-9 w-full min-w-0 rounded-lg border border-muted bg-page px-2 text-base @2xl:text-sm ' +
  'pointer-coarse:min-h-11 pointer-coarse:text-base'

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
  const choices: readonly Choice[] = hasUsers
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
          <TextField
            label={say.requests.text}
            value={filters.text}
            onChange={(text) => onChange({ ...filters, text })}
          />
          {timeBounds.map((bound) => (
            <MinuteField
              key={bound}
              label={timeLabels[bound]}
              value={filters[bound]}
              onChange={(time) => onChange({ ...filters, [bound]: time })}
            />
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
}: Omit<RequestFilterBarProps, 'onClear'> & { readonly choice: Choice }): ReactNode {
  const id = useId()
  const options = choiceOptions(rows, filters, choice)
  const older = storedOptions(choices, choice).filter((value) => !options.some((option) => option.value === value))
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="block text-xs text-muted">
        {labels[choice]}
      </label>
      <select
        id={id}
        value={filters[choice]}
        onChange={(event) => onChange({ ...filters, [choice]: event.target.value })}
        className={field}
      >
        <option value="">{all[choice]}</option>
        {options.map(({ value, count }) => (
          <option key={value} value={value}>
            {wordsOf(choice, value)} ({formatCount(count)})
          </option>
        ))}
        {older.map((value) => (
          <option key={value} value={value}>
            {wordsOf(choice, value)}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Values that only older requests may have. */
function storedOptions(choices: LogChoices | undefined, choice: Choice): readonly string[] {
  if (choices === undefined) return []
  const { models, providers, people, keys, errors, apis } = choices
  const options: Readonly<Record<Choice, readonly string[]>> = {
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
  const id = useId()
  const [typed, setTyped] = useState('')
  // Keeps the typed text, such as `0.0`, until the filter changes in another way.
  const text = readNumber(typed) === value ? typed : value === 0 ? '' : String(value)
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="block text-xs text-muted">
        {label}
      </label>
      <input
        id={id}
        inputMode="decimal"
        autoComplete="off"
        placeholder="0"
        value={text}
        className={field}
        onChange={({ target }) => {
          setTyped(target.value)
          onChange(readNumber(target.value))
        }}
      />
    </div>
  )
}

/** Parses a number; 0 if it is invalid. Accepts a decimal comma. */
function readNumber(text: string): number {
  const value = Number(text.trim().replace(',', '.'))
  return Number.isFinite(value) && value > 0 ? value : 0
}

function MinuteField({ label, value, onChange }: FilterNumberProps): ReactNode {
  const id = useId()
  return (
    <div className="col-span-2 min-w-0">
      <label htmlFor={id} className="block text-xs text-muted">
        {label}
      </label>
      <input
        id={id}
        type="datetime-local"
        value={writeLocalMinute(value)}
        onChange={(event) => onChange(readLocalMinute(event.target.value))}
        className={field}
      />
    </div>
  )
}

function TextField({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
}): ReactNode {
  const id = useId()
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="block text-xs text-muted">
        {label}
      </label>
      <input
        id={id}
        type="search"
        placeholder={say.requests.textHint}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className={field}
      />
    </div>
  )
}

function wordsOf(choice: Choice, value: string): string {
  if (choice === 'status') return isOutcome(value) ? outcomeTexts[value] : value
  return choice === 'error' ? inWords(value) : value
}

function isOutcome(value: string): value is Outcome {
  return Object.hasOwn(outcomeTexts, value)
}
