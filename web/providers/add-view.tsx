import { useEffect, useEffectEvent, useState, type ReactNode } from 'react'
import { proposedVariable } from '../../src/base/free-variable.ts'
import type { BrandEntry, BrandsAnswer, ProvidersAnswer } from '../../src/http/page/page-api.ts'
import { hrefOf, navigate } from '../app/route.ts'
import { View } from '../app/view.tsx'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { useLoaded } from '../ui/use-answer.ts'
import { AddByHand } from './add-by-hand.tsx'
import { AddOrder } from './add-order.tsx'
import {
  draftOf,
  emptyValues,
  faultsOf,
  freeId,
  keyState,
  nameOfServer,
  ownServer,
  type FormValues,
} from './form-draft.ts'
import { fieldLook, Labelled, LookResult } from './form-fields.tsx'
import {
  fieldOf,
  Folded,
  KeyField,
  LastFields,
  mayTypeKeys,
  TextField,
  useProviderForm,
  VariableField,
  type ProviderForm,
} from './provider-form.tsx'
import { feedOf, useProviders } from './use-providers.ts'

const refreshMs = 5_000
/** After the last change of a tested field. */
const testAfterMs = 500
/** The choice of instructions in place of a form. */
const byHand = 'hand'

/** Adds a provider: brand or address, its key, which is tested at once, its name, and its place in the order. */
export function AddView(): ReactNode {
  const { answer } = useProviders(refreshMs)
  const { answer: known, error } = useLoaded(
    (client, signal) => client.get<BrandsAnswer>('/api/providers/brands', signal),
    '',
  )
  return (
    <View title={say.providers.addTitle} within={{ title: say.views.providers, href: hrefOf({ view: 'providers' }) }}>
      {error === undefined ? null : (
        <Notice kind="error" title={say.providers.brandsFailed}>
          {error}
        </Notice>
      )}
      {known !== undefined && answer !== undefined ? (
        <AddForm {...known} answer={answer} />
      ) : error === undefined ? (
        <Loading />
      ) : null}
    </View>
  )
}

function AddForm({
  brands,
  keysFile,
  defaultTimeouts,
  answer,
}: BrandsAnswer & { readonly answer: ProvidersAnswer }): ReactNode {
  const feed = feedOf(useServices().client)
  // The echo gives way to the first provider.
  const order = answer.source === 'echo' ? [] : answer.providers.map(({ id }) => id)
  const taken = new Set(order)
  const [wanted, setPlace] = useState<number>()
  const place = Math.min(wanted ?? order.length, order.length)
  const form = useProviderForm({
    begins: emptyValues,
    faultsOf: (values) => faultsOf(values, brands, taken),
    lookOf(values) {
      const { id, models: _, ...entry } = draftOf(values)
      return { id, entry }
    },
    async save(values) {
      const { id, ...entry } = draftOf(values)
      const outcome = await feed.change({ id, change: 'add', entry, to: place })
      if (outcome.kind === 'failed') return outcome.error.message
      if (outcome.kind === 'conflict') return say.providers.addedMeanwhile
      announce(say.providers.changeDone.moved(id, place + 1, order.length + 1))
      navigate({ view: 'providers' })
      return undefined
    },
  })
  const [isAddressOpen, setAddressOpen] = useState(false)
  useOwnTest(form, brands, isAddressOpen)
  const { kind } = form.values
  return (
    <div className="grid gap-6 @4xl:grid-cols-[minmax(0,1fr)_21rem] @4xl:items-start">
      <form
        className="flex min-w-0 flex-col gap-4"
        noValidate
        onSubmit={(event) => void form.submit(event)}
        onFocus={({ target }) => setAddressOpen(target.id === form.idOf('baseUrl'))}
        onBlur={() => setAddressOpen(false)}
      >
        <KindField {...{ form, brands, taken }} />
        {kind === byHand ? (
          <AddByHand source={answer.source} file={answer.file} />
        ) : kind === '' ? null : (
          <Fields {...{ form, brands, keysFile, defaultTimeouts, taken }} />
        )}
        <p role="alert" className="text-sm text-bad [overflow-wrap:anywhere] empty:hidden">
          {form.refusal}
        </p>
        <div className="flex flex-wrap gap-2">
          {kind === byHand ? null : (
            <Button type="submit" variant="primary" aria-disabled={form.isSaving}>
              {say.providers.addAs(place + 1)}
            </Button>
          )}
          <ButtonLink href={hrefOf({ view: 'providers' })}>{say.common.cancel}</ButtonLink>
        </div>
      </form>
      {kind === byHand ? null : <AddOrder order={order} name={form.values.id} place={place} onMove={setPlace} />}
    </div>
  )
}

/**
 * Tests the fields once they are complete and typing has stopped. While an address is open it may be half typed, and a
 * key must not go there.
 */
function useOwnTest(
  { values, looked, test }: ProviderForm,
  brands: readonly BrandEntry[],
  isAddressOpen: boolean,
): void {
  const { kind, id, baseUrl, protocol, key, variable } = values
  const hasKey = key !== '' || variable !== '' || keyState(values, brands)?.isSet !== false
  const isReady = kind !== '' && kind !== byHand && hasKey && !isAddressOpen && looked === undefined
  const subject = JSON.stringify([kind, id, baseUrl, protocol, key, variable])
  const testNow = useEffectEvent(() => test(true))
  useEffect(() => {
    if (!isReady) return undefined
    const timer = setTimeout(() => void testNow(), testAfterMs)
    return () => clearTimeout(timer)
  }, [subject, isReady])
}

function KindField({
  form,
  brands,
  taken,
}: {
  readonly form: ProviderForm
  readonly brands: readonly BrandEntry[]
  readonly taken: ReadonlySet<string>
}): ReactNode {
  return (
    <Labelled id={form.idOf('kind')} label={say.common.provider} fault={form.faults.kind}>
      <select
        {...fieldOf(form, 'kind')}
        autoFocus
        value={form.values.kind}
        onChange={({ target: { value } }) =>
          form.change({
            ...emptyValues,
            kind: value,
            id: value === byHand || value === '' ? '' : freeId(value === ownServer ? nameOfServer('') : value, taken),
          })
        }
      >
        <option value="">{say.providers.choose}</option>
        {brands.map((each) => (
          <option key={each.id} value={each.id}>
            {each.isFree === true ? say.providers.freeTier(each.name) : each.name}
          </option>
        ))}
        <option value={ownServer}>{say.providers.anotherServer}</option>
        <option value={byHand}>{say.providers.byHand}</option>
      </select>
    </Labelled>
  )
}

/** The fields that a provider of the chosen kind needs. */
function Fields({
  form,
  brands,
  keysFile,
  defaultTimeouts,
  taken,
}: Omit<BrandsAnswer, 'keysFile'> & {
  readonly form: ProviderForm
  readonly keysFile: string | undefined
  readonly taken: ReadonlySet<string>
}): ReactNode {
  const { faults, looked, values } = form
  const brand = brands.find((each) => each.id === values.kind)
  const needsKey = brand?.keys.length !== 0
  const mayType = mayTypeKeys(keysFile)
  const about =
    brand === undefined
      ? say.providers.suchAs(proposedVariable(values.id))
      : say.providers.usedIfEmpty(brand.keys.map((key) => key.variable).join(say.providers.or))
  const variable = needsKey ? <VariableField {...{ form, about }} placeholder={brand?.keys[0]?.variable} /> : null
  return (
    <>
      {values.kind === ownServer ? <OwnServer form={namedByAddress(form, taken)} /> : null}
      {!needsKey ? (
        <p className="text-sm text-muted">{say.providers.needsNoKey}</p>
      ) : mayType ? (
        <KeyField form={form} keysFile={keysFile} />
      ) : (
        variable
      )}
      {looked === undefined ? <KeyNote {...{ values, brands }} /> : <LookResult looked={looked} />}
      <TextField form={form} field="id" label={say.common.name} about={say.providers.nameHint} />
      <Folded
        title={mayType && needsKey ? say.providers.restWithVariable : say.providers.rest}
        hasFault={[faults.variable, faults.models, faults.timeouts].some((fault) => fault !== undefined)}
      >
        {mayType ? variable : null}
        <LastFields {...{ form, defaultTimeouts }} />
      </Folded>
    </>
  )
}

/** The form, in which a new address brings a new name, unless one was typed. */
function namedByAddress(form: ProviderForm, taken: ReadonlySet<string>): ProviderForm {
  const nameOf = (address: string): string => freeId(nameOfServer(address), taken)
  const { id, baseUrl } = form.values
  return {
    ...form,
    change(more) {
      const isProposed = more.baseUrl !== undefined && id === nameOf(baseUrl)
      form.change(isProposed ? { ...more, id: nameOf(more.baseUrl ?? '') } : more)
    },
  }
}

/** The address of a server that is no brand, and the protocol that it speaks. */
function OwnServer({ form }: { readonly form: ProviderForm }): ReactNode {
  return (
    <div className="grid gap-4 sm:grid-cols-[2fr_1fr]">
      <TextField
        form={form}
        field="baseUrl"
        label={say.providers.baseUrl}
        about={say.providers.baseUrlHint}
        inputMode="url"
        placeholder="https://api.example.com/v1"
      />
      <Labelled id={form.idOf('protocol')} label={say.providers.speaks}>
        <select
          id={form.idOf('protocol')}
          className={fieldLook}
          value={form.values.protocol}
          onChange={({ target }) => form.change({ protocol: protocolOf(target.value) })}
        >
          <option value="openai">OpenAI</option>
          <option value="anthropic">Anthropic</option>
          <option value="gemini">Gemini</option>
        </select>
      </Labelled>
    </div>
  )
}

function protocolOf(text: string): FormValues['protocol'] {
  return text === 'anthropic' || text === 'gemini' ? text : 'openai'
}

/** Whether the key that is not typed is there already. */
function KeyNote({
  values,
  brands,
}: {
  readonly values: FormValues
  readonly brands: readonly BrandEntry[]
}): ReactNode {
  const key = keyState(values, brands)
  if (key?.isSet === undefined || values.key.trim() !== '') return null
  return key.isSet ? (
    <p className="text-sm text-ok">{say.providers.isSet(key.variable)}</p>
  ) : (
    <p className="text-sm text-warn">{say.providers.keyMissing(key.variable)}</p>
  )
}
