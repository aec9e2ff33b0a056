import type { ReactNode } from 'react'
import type { ProviderChange, ProviderEntry, ProviderTest } from '../../src/http/page/page-api.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Switch } from '../ui/switch.tsx'
import { useNow } from '../ui/use-now.ts'
import {
  describeFirstToken,
  describeLastError,
  describeState,
  describeSuccess,
  describeTest,
} from './describe-provider.ts'
import { ModelsServed } from './models-served.tsx'

/** `locked`: there is no file to change. `readonly`: the user may not change it. */
export type CardMode = 'editable' | 'locked' | 'readonly'

/** Props of {@link ProviderCard}. */
export interface ProviderCardProps {
  readonly provider: ProviderEntry
  /** Position in the order of failover, from 1. */
  readonly place: number
  readonly isLast: boolean
  readonly mode: CardMode
  readonly test: ProviderTest | 'running' | undefined
  readonly onChange: (change: ProviderChange['change']) => void
  readonly onTest: () => void
}

const chips = {
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  muted: 'bg-hover text-muted',
} as const

/** A provider: name, state, figures, models and actions. */
export function ProviderCard(props: ProviderCardProps): ReactNode {
  const { provider, place, test } = props
  const { id, brand, protocol, baseUrl, enabled } = provider
  return (
    <li className="rounded-xl border border-line bg-panel p-4">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="flex min-w-0 gap-3">
          <span
            className={
              'grid size-8 shrink-0 place-items-center rounded-full border border-line text-sm font-semibold ' +
              `tabular-nums ${enabled ? 'bg-raised' : 'text-muted'}`
            }
          >
            {place}
          </span>
          <div className="min-w-0">
            <h2 className="text-base font-semibold [overflow-wrap:anywhere]">{id}</h2>
            <p className="text-sm text-muted [overflow-wrap:anywhere]">
              {[brand, `${protocol} protocol`, baseUrl].filter((part) => part !== undefined).join(' · ')}
            </p>
          </div>
        </div>
        <Controls {...props} />
      </div>
      {test === undefined ? null : <TestResult test={test} />}
      <ProviderStatus provider={provider} />
      <ModelsServed provider={provider} />
    </li>
  )
}

function Controls({
  provider: { id, enabled },
  place,
  isLast,
  mode,
  test,
  onChange,
  onTest,
}: ProviderCardProps): ReactNode {
  if (mode === 'readonly') return null
  const isLocked = mode === 'locked'
  return (
    <div className="flex flex-wrap items-center gap-1">
      <Switch
        label={`Ask ${id}`}
        isOn={enabled}
        hidesLabel
        isDisabled={isLocked}
        onChange={(isOn) => onChange(isOn ? 'enable' : 'disable')}
      />
      <MoveButton
        label={`Move ${id} up`}
        icon="up"
        isLocked={isLocked}
        isAtEnd={place === 1}
        onMove={() => onChange('up')}
      />
      <MoveButton
        label={`Move ${id} down`}
        icon="down"
        isLocked={isLocked}
        isAtEnd={isLast}
        onMove={() => onChange('down')}
      />
      <Button
        icon="play"
        aria-disabled={test === 'running'}
        onClick={() => {
          if (test !== 'running') onTest()
        }}
      >
        Test now<span className="sr-only">: {id}</span>
      </Button>
    </div>
  )
}

/** At the end of the list, the button stays enabled without effect: disabling it would lose the focus. */
function MoveButton({
  label,
  icon,
  isLocked,
  isAtEnd,
  onMove,
}: {
  readonly label: string
  readonly icon: 'up' | 'down'
  readonly isLocked: boolean
  readonly isAtEnd: boolean
  readonly onMove: () => void
}): ReactNode {
  return (
    <IconButton
      label={label}
      icon={icon}
      className="aria-disabled:opacity-40"
      disabled={isLocked}
      aria-disabled={isAtEnd}
      onClick={() => {
        if (!isAtEnd) onMove()
      }}
    />
  )
}

function TestResult({ test }: { readonly test: ProviderTest | 'running' }): ReactNode {
  if (test === 'running')
    return <p className="mt-3 rounded-lg bg-hover px-3 py-2 text-sm text-muted">Asking for one token…</p>
  return (
    <p
      className={
        'mt-3 flex items-start gap-2 rounded-lg px-3 py-2 text-sm [overflow-wrap:anywhere] ' +
        (test.ok ? chips.ok : chips.bad)
      }
    >
      <Icon name={test.ok ? 'check' : 'warn'} className="mt-0.5 size-4" />
      <span>Test: {describeTest(test)}</span>
    </p>
  )
}

/** State and figures. Renders regularly, since they depend on the time. */
function ProviderStatus({ provider }: { readonly provider: ProviderEntry }): ReactNode {
  const now = useNow(provider.state.kind === 'cooling' ? 1_000 : 5_000)
  const { icon, word, tone, more } = describeState(provider, now)
  const { coolingModels } = provider
  return (
    <>
      <p className="mt-3 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
        <span className={`inline-flex items-center gap-1 rounded-full px-2.5 py-0.5 font-medium ${chips[tone]}`}>
          <Icon name={icon} className="size-4" />
          {word}
        </span>
        {more === undefined ? null : <span className="min-w-0 tabular-nums [overflow-wrap:anywhere]">{more}</span>}
      </p>
      {coolingModels.length === 0 ? null : (
        <p className="mt-1 text-sm text-warn [overflow-wrap:anywhere]">
          Cooling by themselves: {coolingModels.join(', ')}
        </p>
      )}
      <dl className="mt-3 grid grid-cols-2 gap-x-4 gap-y-2 text-sm @2xl:grid-cols-[9rem_14rem_1fr]">
        <Figure name="Answered" value={describeSuccess(provider)} />
        <Figure name="First token" value={describeFirstToken(provider)} />
        <Figure name="Last error" value={describeLastError(provider, now)} isWide />
      </dl>
    </>
  )
}

function Figure({
  name,
  value,
  isWide = false,
}: {
  readonly name: string
  readonly value: string | undefined
  readonly isWide?: boolean
}): ReactNode {
  return (
    <div className={`min-w-0 ${isWide ? 'col-span-2 @2xl:col-span-1' : ''}`}>
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="tabular-nums [overflow-wrap:anywhere]">
        {value ?? (
          <span className="text-muted">
            <span aria-hidden="true">–</span>
            <span className="sr-only">none</span>
          </span>
        )}
      </dd>
    </div>
  )
}
