import { useId, useState, type ReactNode } from 'react'
import type { LogChoices } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { formatCount, inWords } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
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

type Menu = Exclude<ChoiceName, 'failed'>

const outcomeTexts: Readonly<Record<Outcome, string>> = say.requests.outcomes
const labels: Readonly<Record<Menu, string>> = {
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
const all: Readonly<Record<Menu, string>> = say.requests.all
const look: FieldLook = {
  box: 'min-w-0',
  label: 'block text-xs text-muted',
  field: `${smallLook.field} w-full min-w-0 @2xl:text-sm pointer-coarse:text-base`,
}
const chip =
  'min-h-9 rounded-lg border px-3 text-sm font-medium whitespace-nowrap hover:bg-hover pointer-coarse:min-h-11'
const setChip =
  'border-accent bg-accent-soft text-accent forced-colors:bg-[Highlight] forced-colors:text-[HighlightText] ' +
  'forced-colors:forced-color-adjust-none'

/** Chips for the usual filters; the others are behind _More_. Each option shows how many requests it leaves. */
export function RequestFilterBar(props: RequestFilterBarProps): ReactNode {
  const { rows, choices: stored, filters, onChange, onClear } = props
  const count = countFilters(filters)
  const [isOpen, setOpen] = useState(false)
  const panel = useId()
  const hasUsers =
    filters.user !== '' ||
    rows.some(({ request }) => request.user !== undefined) ||
    (stored !== undefined && stored.people.length + stored.keys.length > 0)
  const isLastHour = filters.span === 'hour'
  const chips: readonly Menu[] = ['status', 'model', 'provider', ...(hasUsers ? (['user'] as const) : [])]
  const hidden = countFilters({ ...filters, ...noChips })
  return (
    <div role="group" aria-label={say.requests.filters} className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Chip
          isOn={isLastHour}
          onPress={() => onChange({ ...filters, span: isLastHour ? '' : 'hour', from: 0, to: 0 })}
        >
          {say.requests.lastHour}
        </Chip>
        <Chip
          isOn={filters.failed !== ''}
          onPress={() => onChange({ ...filters, failed: filters.failed === '' ? 'yes' : '' })}
        >
          {say.requests.aProviderFailed}
        </Chip>
        {chips.map((choice) => (
          <ChoiceField key={choice} choice={choice} {...props} isChip />
        ))}
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={panel}
          className={
            `${chip} inline-flex shrink-0 items-center gap-2 ` + (hidden === 0 ? 'border-line bg-raised' : setChip)
          }
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="plus" className="size-4" />
          {hidden === 0 ? say.requests.moreFilters : say.requests.moreFiltersSet(hidden)}
        </button>
        {count === 0 ? null : (
          <Button icon="close" className="shrink-0" onClick={onClear}>
            {say.common.clearFilters}
          </Button>
        )}
      </div>
      <div id={panel} hidden={!isOpen}>
        <div className="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-3">
          <ChoiceField choice="error" {...props} />
          <ChoiceField choice="api" {...props} />
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
                  onChange={({ target }) => onChange({ ...filters, span: '', [bound]: readLocalMinute(target.value) })}
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

/** The filters that have chips, not set. */
const noChips = { status: '', model: '', provider: '', user: '', failed: '', span: '' } as const

function Chip({
  isOn,
  onPress,
  children,
}: {
  readonly isOn: boolean
  readonly onPress: () => void
  readonly children: ReactNode
}): ReactNode {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      className={`${chip} shrink-0 ${isOn ? setChip : 'border-line bg-raised'}`}
      onClick={onPress}
    >
      {children}
    </button>
  )
}

function ChoiceField({
  choice,
  rows,
  choices,
  filters,
  onChange,
  isChip = false,
}: Omit<RequestFilterBarProps, 'onClear'> & { readonly choice: Menu; readonly isChip?: boolean }): ReactNode {
  const options = choiceOptions(rows, filters, choice)
  const older = storedOptions(choices, choice).filter((value) => !options.some((option) => option.value === value))
  const chipLook: FieldLook = {
    box: 'shrink-0',
    label: 'sr-only',
    field: `${chip} max-w-48 [field-sizing:content] ${filters[choice] === '' ? 'border-line bg-raised' : setChip}`,
  }
  return (
    <Choice
      label={labels[choice]}
      look={isChip ? chipLook : look}
      value={filters[choice]}
      options={[
        ['', isChip ? labels[choice] : all[choice]],
        ...options.map(({ value, count }) => [value, `${wordsOf(choice, value)} (${formatCount(count)})`] as const),
        ...older.map((value) => [value, wordsOf(choice, value)] as const),
      ]}
      onChange={(value) => onChange({ ...filters, [choice]: value })}
    />
  )
}

/** Values that only older requests may have. */
function storedOptions(choices: LogChoices | undefined, choice: Menu): readonly string[] {
  if (choices === undefined) return []
  const { models, providers, people, keys, errors, apis } = choices
  const options: Readonly<Record<Menu, readonly string[]>> = {
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
