import { useId, useState, type PointerEvent, type ReactNode } from 'react'
import type { ProviderEntry, ProviderTest, WantedProviderChange } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { Switch } from '../ui/switch.tsx'
import { useNow } from '../ui/use-now.ts'
import {
  describeFirstToken,
  describeLastError,
  describeState,
  describeSuccess,
  describeTest,
  describeUnpriced,
} from './describe-provider.ts'
import { ModelsServed } from './models-served.tsx'
import { OwnWords } from './own-words.tsx'

/** `locked`: there is no file to change. `readonly`: the user may not change it. */
export type RowMode = 'editable' | 'locked' | 'readonly'

export interface ProviderRowProps {
  readonly provider: ProviderEntry
  /** Position in the order of failover, from 1. */
  readonly place: number
  readonly isLast: boolean
  readonly mode: RowMode
  readonly test: ProviderTest | 'running' | undefined
  /** Where the row that is being dragged would be dropped: before or after this one. */
  readonly drop: 'before' | 'after' | undefined
  readonly isDragged: boolean
  readonly onChange: (change: WantedProviderChange) => void
  /** Absent: the user may not change the settings of providers. */
  readonly onEdit?: () => void
  /** Absent: the user may not remove providers. */
  readonly onRemove?: () => void
  readonly onTest: () => void
  readonly onGrab: (event: PointerEvent) => void
}

const chips = {
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  muted: 'bg-hover text-muted',
} as const

const drops = { before: 'border-t-accent border-t-4', after: 'border-b-accent border-b-4' } as const

/** A provider in a row of 48 px: place, name, state and actions. Its details open below. */
export function ProviderRow(props: ProviderRowProps): ReactNode {
  const { provider, place, test, mode, drop, isDragged, onGrab } = props
  const { id, enabled, state } = provider
  const [isOpen, setOpen] = useState(state.kind !== 'ok' && state.kind !== 'off')
  const details = useId()
  return (
    <li
      className={
        'rounded-xl border border-line bg-panel ' +
        `${drop === undefined ? '' : drops[drop]} ${isDragged ? 'opacity-60' : ''}`
      }
    >
      <div className="flex min-h-12 items-center gap-2 pr-1 pl-2">
        {mode === 'editable' ? <Handle onGrab={onGrab} /> : null}
        <span
          className={
            'grid size-6 shrink-0 place-items-center rounded-full border border-line text-xs font-semibold ' +
            `tabular-nums @max-md:hidden ${enabled ? 'bg-raised' : 'text-muted'}`
          }
        >
          {place}
        </span>
        <h2
          className={
            'min-w-0 flex-1 basis-24 font-semibold @2xl:flex-none @2xl:basis-40 ' +
            (isOpen ? 'py-2 [overflow-wrap:anywhere]' : 'truncate')
          }
          title={id}
        >
          {id}
        </h2>
        <RowState provider={provider} />
        <Controls {...props} />
        <IconButton
          label={say.providers.details(id)}
          icon="chevron"
          aria-expanded={isOpen}
          aria-controls={details}
          className={isOpen ? 'rotate-180' : ''}
          onClick={() => setOpen(!isOpen)}
        />
      </div>
      {provider.unpriced === undefined ? null : <NoPrice unpriced={provider.unpriced} />}
      {test === undefined ? null : <TestResult test={test} />}
      <div id={details} hidden={!isOpen} className="border-t border-line px-4 py-3">
        {isOpen ? <Details provider={provider} /> : null}
      </div>
    </li>
  )
}

/** For pointers: with the keyboard, rows are moved by their buttons. */
function Handle({ onGrab }: { readonly onGrab: (event: PointerEvent) => void }): ReactNode {
  return (
    <span
      aria-hidden="true"
      data-handle
      title={say.providers.dragToMove}
      className="grid h-10 w-5 shrink-0 cursor-grab touch-none place-items-center text-muted pointer-coarse:w-8"
      onPointerDown={onGrab}
    >
      <svg width="10" height="16" viewBox="0 0 10 16" fill="currentColor">
        {[2, 8, 14].map((y) => (
          <path key={y} d={`M1 ${y}h3M6 ${y}h3`} stroke="currentColor" strokeWidth="2" />
        ))}
      </svg>
    </span>
  )
}

function Controls({
  provider: { id, enabled },
  place,
  isLast,
  mode,
  test,
  onChange,
  onEdit,
  onRemove,
  onTest,
}: ProviderRowProps): ReactNode {
  if (mode === 'readonly') return null
  const isLocked = mode === 'locked'
  const isTesting = test === 'running'
  const testNow = (): void => {
    if (!isTesting) onTest()
  }
  const move = (label: string, to: number) => ({ label, run: () => onChange({ id, change: 'move', to }) })
  return (
    <>
      <Switch
        label={say.providers.ask(id)}
        isOn={enabled}
        hidesLabel
        isDisabled={isLocked}
        onChange={(isOn) => onChange({ id, change: isOn ? 'enable' : 'disable' })}
      />
      <span className="hidden items-center @2xl:flex">
        <MoveButton
          label={say.providers.changes.up(id)}
          icon="up"
          isLocked={isLocked}
          isAtEnd={place === 1}
          onMove={() => onChange({ id, change: 'up' })}
        />
        <MoveButton
          label={say.providers.changes.down(id)}
          icon="down"
          isLocked={isLocked}
          isAtEnd={isLast}
          onMove={() => onChange({ id, change: 'down' })}
        />
        <Button icon="play" aria-disabled={isTesting} onClick={testNow}>
          {say.providers.testNow}
          <span className="sr-only">: {id}</span>
        </Button>
      </span>
      <Menu
        label={say.providers.moreAbout(id)}
        items={[
          { label: say.providers.testNow, icon: 'play', run: testNow },
          ...(isLocked || onEdit === undefined
            ? []
            : [{ label: say.providers.settings, icon: 'sliders' as const, run: onEdit }]),
          ...(isLocked || place === 1 ? [] : [move(say.providers.move.top, 0), move(say.providers.move.up, place - 2)]),
          ...(isLocked || isLast ? [] : [move(say.providers.move.down, place)]),
          ...(isLocked || onRemove === undefined
            ? []
            : [{ label: say.providers.remove, icon: 'trash' as const, isDanger: true, run: onRemove }]),
        ]}
      />
    </>
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

/** Says that limits of money put the provider last, and the way out. */
function NoPrice({ unpriced }: { readonly unpriced: NonNullable<ProviderEntry['unpriced']> }): ReactNode {
  return (
    <p
      className={`mx-3 mb-3 flex items-start gap-2 rounded-lg px-3 py-2 text-sm [overflow-wrap:anywhere] ${chips.warn}`}
    >
      <Icon name="warn" className="mt-0.5 size-4" />
      <span>{describeUnpriced(unpriced)}</span>
    </p>
  )
}

function TestResult({ test }: { readonly test: ProviderTest | 'running' }): ReactNode {
  if (test === 'running')
    return <p className="mx-3 mb-3 rounded-lg bg-hover px-3 py-2 text-sm text-muted">{say.providers.askingForToken}</p>
  return (
    <p
      className={
        'mx-3 mb-3 flex items-start gap-2 rounded-lg px-3 py-2 text-sm [overflow-wrap:anywhere] ' +
        (test.ok ? chips.ok : chips.bad)
      }
    >
      <Icon name={test.ok ? 'check' : 'warn'} className="mt-0.5 size-4" />
      <span>
        {say.providers.testIs(describeTest(test))}
        <OwnWords detail={test.detail} />
      </span>
    </p>
  )
}

/** The state in the row; on narrow screens as an icon. */
function RowState({ provider }: { readonly provider: ProviderEntry }): ReactNode {
  const { icon, word, tone, more } = useLook(provider)
  const figures = [describeSuccess(provider), describeFirstToken(provider)].filter((figure) => figure !== undefined)
  return (
    <span className="flex min-w-0 items-center gap-2 text-sm @2xl:flex-1">
      <span
        className={
          'inline-flex shrink-0 items-center gap-1 rounded-full px-1 py-0.5 font-medium @2xl:px-2.5 ' + chips[tone]
        }
      >
        <Icon name={icon} className="size-4" />
        <span className="@max-2xl:sr-only">{word}</span>
      </span>
      <span className="hidden min-w-0 truncate text-muted tabular-nums @2xl:inline">
        {provider.state.kind === 'ok' && figures.length > 0 ? figures.join(' · ') : more}
      </span>
    </span>
  )
}

/** Renders regularly, since the state depends on the time. */
function useLook(provider: ProviderEntry): ReturnType<typeof describeState> {
  return describeState(provider, useNow(provider.state.kind === 'cooling' ? 1_000 : 5_000))
}

function Details({ provider }: { readonly provider: ProviderEntry }): ReactNode {
  const now = useNow(provider.state.kind === 'cooling' ? 1_000 : 5_000)
  const { word, more } = describeState(provider, now)
  const { brand, protocol, baseUrl, coolingModels, state, lastError } = provider
  return (
    <>
      <p className="text-sm text-muted [overflow-wrap:anywhere]">
        {[brand, say.providers.protocol(protocol), baseUrl].filter((part) => part !== undefined).join(' · ')}
      </p>
      <p className="mt-2 text-sm tabular-nums [overflow-wrap:anywhere]">
        {word}
        {more === undefined ? '' : `: ${more}`}
        {state.kind === 'failing' ? <OwnWords detail={state.detail} /> : null}
      </p>
      {coolingModels.length === 0 ? null : (
        <p className="mt-1 text-sm text-warn [overflow-wrap:anywhere]">
          {say.providers.coolingModels(coolingModels.join(', '))}
        </p>
      )}
      <dl className="mt-3 grid grid-cols-2 gap-x-4 gap-y-2 text-sm @2xl:grid-cols-[9rem_14rem_1fr]">
        <Figure name={say.providers.answered} value={describeSuccess(provider)} />
        <Figure name={say.providers.firstToken} value={describeFirstToken(provider)} />
        <Figure name={say.providers.lastError} value={describeLastError(provider, now)} isWide>
          <OwnWords detail={lastError?.detail} />
        </Figure>
      </dl>
      <ModelsServed provider={provider} />
    </>
  )
}

function Figure({
  name,
  value,
  isWide = false,
  children,
}: {
  readonly name: string
  readonly value: string | undefined
  readonly isWide?: boolean
  readonly children?: ReactNode
}): ReactNode {
  return (
    <div className={`min-w-0 ${isWide ? 'col-span-2 @2xl:col-span-1' : ''}`}>
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="tabular-nums [overflow-wrap:anywhere]">
        {value ?? (
          <span className="text-muted">
            <span aria-hidden="true">–</span>
            <span className="sr-only">{say.common.noneOfThese}</span>
          </span>
        )}
        {children}
      </dd>
    </div>
  )
}
