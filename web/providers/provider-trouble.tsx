import { useState, type FormEvent, type ReactNode } from 'react'
import type { ProviderEntry, ProviderTest } from '../../src/http/page/page-api.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { adviceFor, describeTest, describeUnpriced, isKeyMissing } from './describe-provider.ts'
import { keyFault } from './form-draft.ts'
import { fieldLook, plainText } from './form-fields.tsx'
import { OwnWords } from './own-words.tsx'
import type { ProviderRowProps } from './row-props.ts'

/** The faults of a provider, each with its remedy, and the outcome of a test. */
export function ProviderTrouble(props: ProviderRowProps): ReactNode {
  const { provider, mode, test, onKey, onChange } = props
  const { state, unpriced, id } = provider
  const mayFix = mode === 'editable' && onKey !== undefined
  const isRefused = (state.kind === 'failing' || state.kind === 'cooling') && state.failure === 'credential'
  const parts = [
    state.kind === 'failing' || isRefused ? <Failing key="failing" {...props} /> : null,
    mayFix && (isKeyMissing(state) || isRefused) ? <KeyForm key="key" id={id} onKey={onKey} /> : null,
    unpriced === undefined ? null : (
      <NoPrice
        key="price"
        unpriced={unpriced}
        {...(mode === 'editable' && props.onEdit !== undefined
          ? { onPrice: (price: Price) => onChange({ id, change: 'edit', edit: { price } }) }
          : {})}
      />
    ),
    test === undefined ? null : <TestResult key="test" test={test} />,
  ].filter((part) => part !== null)
  return parts.length === 0 ? null : <div className="flex flex-col gap-3 px-4 pb-4 @2xl:pl-15">{parts}</div>
}

/** Advice in words, the provider's own words, and a test. */
function Failing({ provider: { state, baseUrl, id }, mode, test, onTest }: ProviderRowProps): ReactNode {
  if (state.kind !== 'failing' && state.kind !== 'cooling') return null
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-xl border border-transparent bg-panel px-4 py-3 text-sm">
      <div className="min-w-[min(75%,14rem)] flex-1 [overflow-wrap:anywhere]">
        <p>{adviceFor(state.failure ?? '', baseUrl)}</p>
        {state.kind === 'failing' ? <OwnWords detail={state.detail} /> : null}
      </div>
      {mode === 'readonly' ? null : (
        <Button
          icon="play"
          aria-disabled={test === 'running'}
          onClick={() => (test === 'running' ? undefined : onTest())}
        >
          {say.providers.testNow}
          <span className="sr-only">: {id}</span>
        </Button>
      )}
    </div>
  )
}

/** A field for the key, which is written and never shown again. */
function KeyForm({ id, onKey }: { readonly id: string; readonly onKey: (key: string) => void }): ReactNode {
  const [key, setKey] = useState('')
  const [fault, setFault] = useState<string>()
  function submit(event: FormEvent): void {
    event.preventDefault()
    const found = key.trim() === '' ? say.providers.faults.key : keyFault(key).key
    setFault(found)
    if (found !== undefined) return
    setKey('')
    onKey(key.trim())
  }
  return (
    <form className="flex flex-col gap-1" noValidate onSubmit={submit}>
      <div className="flex flex-wrap gap-2">
        <input
          {...plainText}
          type="password"
          aria-label={say.providers.keyOf(id)}
          placeholder={say.providers.keyOf(id)}
          aria-invalid={fault !== undefined}
          className={`${fieldLook} max-w-md min-w-40 flex-1 basis-40`}
          value={key}
          onChange={({ target }) => setKey(target.value)}
        />
        <Button type="submit" variant="primary">
          {say.providers.saveAndTest}
        </Button>
      </div>
      <p role="alert" className="text-xs text-bad empty:hidden">
        {fault}
      </p>
      <p className="text-xs text-muted">{say.providers.keyHint('keys.env')}</p>
    </form>
  )
}

interface Price {
  readonly input: number
  readonly output: number
}

/** Says that limits of money put the provider last, and takes its price. */
function NoPrice({
  unpriced,
  onPrice,
}: {
  readonly unpriced: NonNullable<ProviderEntry['unpriced']>
  /** Absent: the user may not set it. */
  readonly onPrice?: (price: Price) => void
}): ReactNode {
  const [isTyping, setTyping] = useState(false)
  return (
    <div className="flex flex-col gap-3 text-sm">
      <p className="text-muted [overflow-wrap:anywhere]">{describeUnpriced(unpriced)}</p>
      {onPrice === undefined ? null : (
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => onPrice({ input: 0, output: 0 })}>{say.providers.isFree}</Button>
          <Button aria-expanded={isTyping} onClick={() => setTyping(!isTyping)}>
            {say.providers.setPrice}
          </Button>
        </div>
      )}
      {isTyping && onPrice !== undefined ? <PriceForm onPrice={onPrice} /> : null}
    </div>
  )
}

const priceNames = ['input', 'output'] as const
const labels = { input: say.providers.priceIn, output: say.providers.priceOut } as const

function PriceForm({ onPrice }: { readonly onPrice: (price: Price) => void }): ReactNode {
  const [typed, setTyped] = useState({ input: '', output: '' })
  const [isChecked, setChecked] = useState(false)
  const price = { input: dollarsIn(typed.input), output: dollarsIn(typed.output) }
  const isSound = !Number.isNaN(price.input + price.output)
  function submit(event: FormEvent): void {
    event.preventDefault()
    setChecked(true)
    if (isSound) onPrice(price)
  }
  return (
    <form className="flex flex-col gap-2" noValidate onSubmit={submit}>
      <p className="font-medium">{say.providers.howMuch}</p>
      <div className="flex flex-wrap items-end gap-2">
        {priceNames.map((name, index) => (
          <label key={name} className="flex w-28 flex-col gap-1">
            {labels[name]}
            <input
              {...plainText}
              autoFocus={index === 0}
              inputMode="decimal"
              aria-invalid={isChecked && Number.isNaN(price[name])}
              className={fieldLook}
              value={typed[name]}
              onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
            />
          </label>
        ))}
        <Button type="submit" variant="primary">
          {say.providers.save}
        </Button>
      </div>
      {isSound ? (
        <p className="text-muted">
          {rich(say.providers.writes, {
            line: <code className="text-ink">{`"price": ${JSON.stringify(price)}`}</code>,
          })}
        </p>
      ) : null}
    </form>
  )
}

/** NaN: it is no amount. Accepts a decimal comma. */
function dollarsIn(text: string): number {
  const amount = /^\d+(?:[.,]\d*)?$/.test(text.trim()) ? Number(text.trim().replace(',', '.')) : Number.NaN
  return amount <= 1_000_000 ? amount : Number.NaN
}

function TestResult({ test }: { readonly test: ProviderTest | 'running' }): ReactNode {
  if (test === 'running')
    return <p className="rounded-lg bg-hover px-3 py-2 text-sm text-muted">{say.providers.askingForToken}</p>
  return (
    <p
      className={
        'flex items-start gap-2 rounded-lg border border-transparent px-3 py-2 text-sm [overflow-wrap:anywhere] ' +
        (test.ok ? 'bg-ok-soft text-ok' : 'bg-bad-soft text-bad')
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
