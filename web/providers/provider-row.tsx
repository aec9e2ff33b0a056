import { useId, useState, type KeyboardEvent, type ReactNode } from 'react'
import type { ProviderEntry } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { Badge } from '../ui/badge.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { Switch } from '../ui/switch.tsx'
import { useNow } from '../ui/use-now.ts'
import { describeFigures, describeKind, describeState } from './describe-provider.ts'
import { ProviderDetails } from './provider-details.tsx'
import { ProviderTrouble } from './provider-trouble.tsx'
import type { ProviderRowProps } from './row-props.ts'

const drops = { before: 'border-t-accent border-t-4', after: 'border-b-accent border-b-4' } as const

/** The line from number to number, behind them. */
const rail =
  'before:absolute before:inset-y-0 before:left-7.5 before:border-l before:border-edge first:before:top-6 ' +
  'last:before:bottom-auto last:before:h-6 only:before:hidden @max-2xl:before:hidden'

const columns =
  'grid-cols-[1.75rem_minmax(0,1fr)_auto] @2xl:grid-cols-[1.75rem_minmax(0,13rem)_minmax(0,1fr)_auto] ' +
  '@5xl:grid-cols-[1.75rem_minmax(9rem,17rem)_minmax(12rem,1fr)_12rem_auto]'

/** A provider: place, name, state and actions. Below it faults with their remedies, and details on demand. */
export function ProviderRow(props: ProviderRowProps): ReactNode {
  const { provider, mode, drop, isDragged } = props
  const [isOpen, setOpen] = useState(false)
  const details = useId()
  return (
    <li
      className={
        `relative border-t border-line first:border-t-0 ${rail} ` +
        `${drop === undefined ? '' : drops[drop]} ${isDragged ? 'opacity-60' : ''}`
      }
    >
      <div className={`grid min-h-13 items-center gap-x-4 gap-y-1 py-2 pr-2 pl-4 ${columns}`}>
        <Place {...props} />
        <div className="min-w-0 @2xl:row-span-2 @5xl:row-span-1">
          <h2 className="text-sm font-semibold">
            <button
              type="button"
              aria-expanded={isOpen}
              aria-controls={details}
              title={say.providers.details(provider.id)}
              className="inline-flex min-h-6 items-center gap-1 rounded-md text-left pointer-coarse:min-h-11"
              onClick={() => setOpen(!isOpen)}
            >
              <span className="min-w-0 [overflow-wrap:anywhere]">{provider.id}</span>
              <Icon name="chevron" className={`size-4 text-muted ${isOpen ? 'rotate-180' : ''}`} />
            </button>
          </h2>
          <p className="text-xs text-pretty text-muted tabular-nums [overflow-wrap:anywhere]">
            {describeKind(provider)}
          </p>
        </div>
        <RowState provider={provider} />
        <p
          className={
            'col-start-2 -col-end-1 text-xs text-muted tabular-nums empty:hidden @2xl:col-start-3 @2xl:col-end-4 ' +
            '@2xl:row-start-2 @5xl:col-start-4 @5xl:col-end-5 @5xl:row-start-1'
          }
        >
          {describeFigures(provider)}
        </p>
        {mode === 'readonly' ? null : <Controls {...props} />}
      </div>
      <ProviderTrouble {...props} />
      <div id={details} hidden={!isOpen} className="px-4 pb-4 @2xl:pl-15">
        {isOpen ? <ProviderDetails provider={provider} /> : null}
      </div>
    </li>
  )
}

const circle =
  'relative grid size-7 place-items-center rounded-full border border-edge bg-raised text-xs font-semibold tabular-nums'

/** The number in the order, which is also the handle: it is dragged, or moved by arrow keys. */
function Place({ provider: { id, enabled }, place, count, mode, onChange, onGrab }: ProviderRowProps): ReactNode {
  const look =
    `${circle} self-start pointer-coarse:mt-2 @2xl:mt-0 @2xl:row-span-2 ` +
    `@2xl:self-center @5xl:row-span-1` +
    (enabled ? '' : ' text-muted')
  if (mode !== 'editable') return <span className={look}>{place}</span>
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
    event.preventDefault()
    const isUp = event.key === 'ArrowUp'
    if (isUp ? place > 1 : place < count) onChange({ id, change: isUp ? 'up' : 'down' })
  }
  return (
    <button
      type="button"
      data-handle
      aria-label={say.providers.changes.handle(id, place, count)}
      title={say.providers.dragToMove}
      className={
        `${look} cursor-grab touch-none after:absolute after:-inset-1.5 hover:border-ink ` +
        'pointer-coarse:after:-inset-2'
      }
      onPointerDown={onGrab}
      onKeyDown={onKeyDown}
    >
      {place}
    </button>
  )
}

function Controls({
  provider: { id, enabled },
  place,
  count,
  mode,
  test,
  onChange,
  onEdit,
  onRemove,
  onTest,
}: ProviderRowProps): ReactNode {
  const isLocked = mode === 'locked'
  const testNow = (): void => {
    if (test !== 'running') onTest()
  }
  const move = (label: string, to: number) => ({ label, run: () => onChange({ id, change: 'move', to }) })
  return (
    <div
      className={
        'col-start-3 row-start-1 flex items-center gap-1 ' +
        'self-start @2xl:self-center @2xl:col-start-4 @2xl:row-span-2 @5xl:col-start-5 @5xl:row-span-1'
      }
    >
      <Switch
        label={say.providers.ask(id)}
        isOn={enabled}
        hidesLabel
        isDisabled={isLocked}
        onChange={(isOn) => onChange({ id, change: isOn ? 'enable' : 'disable' })}
      />
      <Menu
        label={say.providers.moreAbout(id)}
        items={[
          { label: say.providers.testNow, icon: 'play', run: testNow },
          ...(isLocked || place === 1 ? [] : [move(say.providers.move.top, 0), move(say.providers.move.up, place - 2)]),
          ...(isLocked || place === count ? [] : [move(say.providers.move.down, place)]),
          ...(isLocked || onEdit === undefined
            ? []
            : [{ label: say.providers.settings, icon: 'sliders' as const, run: onEdit }]),
          ...(isLocked || onRemove === undefined
            ? []
            : [{ label: say.providers.remove, icon: 'trash' as const, isDanger: true, run: onRemove }]),
        ]}
      />
    </div>
  )
}

/** The state with its reason, which wraps and is never cut. */
function RowState({ provider }: { readonly provider: ProviderEntry }): ReactNode {
  const { icon, word, tone, more } = describeState(provider, useNow(provider.state.kind === 'cooling' ? 1_000 : 5_000))
  return (
    <div
      className={
        'col-start-2 -col-end-1 flex flex-wrap items-center gap-x-2 gap-y-0.5 text-sm @2xl:col-start-3 ' +
        '@2xl:col-end-4 @2xl:row-start-1'
      }
    >
      <Badge tone={tone === 'muted' ? 'plain' : tone}>
        <Icon name={icon} className="size-4" />
        {word}
      </Badge>
      {provider.unpriced === undefined ? null : <Badge tone="warn">{say.providers.noPrice}</Badge>}
      {more === undefined ? null : (
        <span className="min-w-0 text-muted tabular-nums [overflow-wrap:anywhere]">{more}</span>
      )}
    </div>
  )
}
