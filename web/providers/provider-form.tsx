import { useEffect, useId, useState, type FormEvent, type ReactNode } from 'react'
import type {
  BrandEntry,
  BrandsAnswer,
  ProviderDraft,
  ProviderLook,
  ProviderLookRequest,
} from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Loading } from '../ui/loading.tsx'
import { Notice } from '../ui/notice.tsx'
import { describeLacks } from './describe-provider.ts'
import {
  draftOf,
  faultsOf,
  freeId,
  keyState,
  ownServer,
  proposedVariable,
  type FormFaults,
  type FormValues,
} from './form-draft.ts'
import { fieldLook, Labelled, LookResult, lookWords, plainText } from './form-fields.tsx'
import { ModelChoice } from './model-choice.tsx'
import { TimeoutFields } from './timeout-fields.tsx'
import { noTimeouts } from './timeouts.ts'

/** Props of {@link ProviderForm}. */
export interface ProviderFormProps {
  /** Ids of the providers that are there. */
  readonly taken: ReadonlySet<string>
  /** Adds the provider. @returns why it was not added */
  readonly add: (draft: ProviderDraft) => Promise<string | undefined>
  readonly onClose: () => void
}

const empty: FormValues = {
  ...{ kind: '', id: '', baseUrl: '', protocol: 'openai', variable: '' },
  models: undefined,
  timeouts: noTimeouts,
}

/** A dialog that adds a provider: brand or address, the variable of its key, and its models. */
export function ProviderForm({ taken, add, onClose }: ProviderFormProps): ReactNode {
  const { client } = useServices()
  const [answer, setAnswer] = useState<BrandsAnswer>()
  const [failure, setFailure] = useState<string>()
  useEffect(() => {
    const leaving = new AbortController()
    client.get<BrandsAnswer>('/api/providers/brands', leaving.signal).then(setAnswer, (error: unknown) => {
      if (!leaving.signal.aborted) setFailure(error instanceof Error ? error.message : String(error))
    })
    return () => leaving.abort()
  }, [client])
  return (
    <Dialog title={say.providers.addTitle} isOpen size="lg" onClose={onClose}>
      {failure === undefined ? null : (
        <Notice kind="error" title={say.providers.brandsFailed}>
          {failure}
        </Notice>
      )}
      {answer === undefined ? (
        failure === undefined ? (
          <Loading />
        ) : null
      ) : (
        <Form
          brands={answer.brands}
          defaultTimeouts={answer.defaultTimeouts}
          taken={taken}
          add={add}
          onClose={onClose}
        />
      )}
    </Dialog>
  )
}

function Form({ brands, defaultTimeouts, taken, add, onClose }: ProviderFormProps & BrandsAnswer): ReactNode {
  const { client } = useServices()
  const id = useId()
  const [values, setValues] = useState(empty)
  const [faults, setFaults] = useState<FormFaults>({})
  const [looked, setLooked] = useState<ProviderLook | 'running'>()
  const [refusal, setRefusal] = useState<string>()
  const [isAdding, setAdding] = useState(false)
  const { kind, variable } = values
  const brand = brands.find((each) => each.id === kind)

  function change(more: Partial<FormValues>): void {
    setValues({ ...values, ...more })
    setRefusal(undefined)
    // A list of models belongs to the address and the key that it was asked for with.
    if (!('models' in more || 'timeouts' in more)) setLooked(undefined)
  }

  function choose(chosen: string): void {
    const wanted = chosen === ownServer || chosen === '' ? '' : freeId(chosen, taken)
    setFaults({})
    change({ ...empty, kind: chosen, id: wanted })
  }

  /** Shows faults, and moves the focus to the first. */
  function isSound(): boolean {
    const found = faultsOf(values, brands, taken)
    setFaults(found)
    const first = (['kind', 'id', 'baseUrl', 'variable', 'models', 'timeouts'] as const).find(
      (name) => found[name] !== undefined,
    )
    if (first !== undefined) document.querySelector<HTMLElement>(`#${CSS.escape(`${id}-${first}`)}`)?.focus()
    return first === undefined
  }

  async function test(): Promise<void> {
    if (looked === 'running' || !isSound()) return
    setRefusal(undefined)
    setLooked('running')
    const { id: name, models: _, ...entry } = draftOf(values)
    try {
      const wanted: ProviderLookRequest = { id: name, entry }
      const found = await client.post<ProviderLook>('/api/providers/look', wanted)
      setLooked(found)
      announce(lookWords(found))
    } catch (error) {
      setLooked(undefined)
      setRefusal(error instanceof Error ? error.message : String(error))
    }
  }

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    if (isAdding || !isSound()) return
    setAdding(true)
    const why = await add(draftOf(values))
    setAdding(false)
    setRefusal(why)
  }

  const field = (name: keyof FormFaults) => ({
    id: `${id}-${name}`,
    className: fieldLook,
    'aria-invalid': faults[name] !== undefined,
    'aria-describedby': `${id}-${name}-about`,
  })
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={(event) => void submit(event)}>
      <Labelled id={`${id}-kind`} label={say.common.provider} fault={faults.kind}>
        <select {...field('kind')} value={kind} onChange={({ target }) => choose(target.value)}>
          <option value="">{say.providers.choose}</option>
          <option value={ownServer}>{say.providers.anotherServer}</option>
          {brands.map((each) => (
            <option key={each.id} value={each.id}>
              {each.isFree === true ? say.providers.freeTier(each.name) : each.name}
            </option>
          ))}
        </select>
      </Labelled>
      {kind === '' ? null : (
        <>
          <Labelled id={`${id}-id`} label={say.common.name} about={say.providers.nameHint} fault={faults.id}>
            <input
              {...field('id')}
              {...plainText}
              value={values.id}
              onChange={({ target }) => change({ id: target.value })}
            />
          </Labelled>
          {kind === ownServer ? (
            <div className="grid gap-4 sm:grid-cols-[2fr_1fr]">
              <Labelled
                id={`${id}-baseUrl`}
                label={say.providers.baseUrl}
                about={say.providers.baseUrlHint}
                fault={faults.baseUrl}
              >
                <input
                  {...field('baseUrl')}
                  {...plainText}
                  inputMode="url"
                  placeholder="https://api.example.com/v1"
                  value={values.baseUrl}
                  onChange={({ target }) => change({ baseUrl: target.value })}
                />
              </Labelled>
              <Labelled id={`${id}-protocol`} label={say.providers.speaks}>
                <select
                  id={`${id}-protocol`}
                  className={fieldLook}
                  value={values.protocol}
                  onChange={({ target }) => change({ protocol: protocolOf(target.value) })}
                >
                  <option value="openai">OpenAI</option>
                  <option value="anthropic">Anthropic</option>
                  <option value="gemini">Gemini</option>
                </select>
              </Labelled>
            </div>
          ) : null}
          {brand !== undefined && brand.keys.length === 0 ? (
            <p className="text-sm text-muted">{say.providers.needsNoKey}</p>
          ) : (
            <Labelled
              id={`${id}-variable`}
              label={say.providers.variable}
              about={
                (brand === undefined
                  ? say.providers.suchAs(proposedVariable(values.id))
                  : say.providers.usedIfEmpty(brand.keys.map((key) => key.variable).join(say.providers.or))) +
                ` ${say.providers.notTheKey}`
              }
              fault={faults.variable}
            >
              <input
                {...field('variable')}
                {...plainText}
                placeholder={brand?.keys[0]?.variable}
                value={variable}
                onChange={({ target }) => change({ variable: target.value })}
              />
            </Labelled>
          )}
          <KeyNote values={values} brands={brands} looked={looked} />
          <LookResult looked={looked} />
          {typeof looked === 'object' && looked.models !== undefined && looked.models.length > 0 ? (
            <ModelChoice
              id={`${id}-models`}
              offered={looked.models}
              chosen={values.models}
              fault={faults.models}
              onChange={(models) => change({ models })}
            />
          ) : null}
          <TimeoutFields
            id={`${id}-timeouts`}
            typed={values.timeouts}
            defaults={defaultTimeouts}
            fault={faults.timeouts}
            onChange={(timeouts) => change({ timeouts })}
          />
        </>
      )}
      <p role="alert" className="text-sm text-bad [overflow-wrap:anywhere] empty:hidden">
        {refusal}
      </p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{say.common.cancel}</Button>
        <Button icon="play" aria-disabled={kind === '' || looked === 'running'} onClick={() => void test()}>
          {say.providers.test}
        </Button>
        <Button type="submit" variant="primary" icon="plus" aria-disabled={isAdding}>
          {say.providers.addIt}
        </Button>
      </div>
    </form>
  )
}

function protocolOf(text: string): FormValues['protocol'] {
  return text === 'anthropic' || text === 'gemini' ? text : 'openai'
}

/** How to set the variable of the key, unless it is known to be set. */
function KeyNote({
  values,
  brands,
  looked,
}: {
  readonly values: FormValues
  readonly brands: readonly BrandEntry[]
  readonly looked: ProviderLook | 'running' | undefined
}): ReactNode {
  const key = keyState(values, brands)
  if (key === undefined) return null
  const { variable, isSet } = key
  const lacks = typeof looked === 'object' ? looked.lacks : undefined
  const isMissing = isSet === false || lacks !== undefined
  if (!isMissing) {
    if (isSet !== true) return null
    return <p className="text-sm text-ok">{say.providers.isSet(variable)}</p>
  }
  return (
    <Notice kind="warn" title={lacks === undefined ? say.providers.keyMissing(variable) : describeLacks(lacks)}>
      <p>
        {rich(say.providers.keyMissingHint, {
          export: <code>export {variable}=…</code>,
          unit: <code>Environment=</code>,
        })}
      </p>
    </Notice>
  )
}
