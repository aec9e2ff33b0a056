import type { ReactNode } from 'react'
import { proposedVariable } from '../../src/base/free-variable.ts'
import type { BrandEntry, BrandsAnswer, ProviderDraft } from '../../src/http/page/page-api.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Notice } from '../ui/notice.tsx'
import { useLoaded } from '../ui/use-answer.ts'
import { describeLacks } from './describe-provider.ts'
import { draftOf, emptyValues, faultsOf, freeId, keyState, ownServer, type FormValues } from './form-draft.ts'
import { fieldLook, Labelled } from './form-fields.tsx'
import {
  fieldOf,
  FormDialog,
  FormFrame,
  KeyFields,
  TextField,
  useProviderForm,
  type ProviderForm,
} from './provider-form.tsx'

interface NewProviderProps {
  /** Ids of the providers that are there. */
  readonly taken: ReadonlySet<string>
  /** Adds the provider. @returns why it was not added */
  readonly add: (draft: ProviderDraft) => Promise<string | undefined>
  readonly onClose: () => void
}

/** A dialog that adds a provider: brand or address, the variable of its key, and its models. */
export function NewProvider(props: NewProviderProps): ReactNode {
  const { answer, error } = useLoaded((client, signal) => client.get<BrandsAnswer>('/api/providers/brands', signal), '')
  return (
    <FormDialog
      title={say.providers.addTitle}
      failedTitle={say.providers.brandsFailed}
      failure={error}
      onClose={props.onClose}
    >
      {answer === undefined ? null : <Form {...props} {...answer} />}
    </FormDialog>
  )
}

function Form({ brands, keysFile, defaultTimeouts, taken, add, onClose }: NewProviderProps & BrandsAnswer): ReactNode {
  const form = useProviderForm({
    begins: emptyValues,
    faultsOf: (values) => faultsOf(values, brands, taken),
    lookOf(values) {
      const { id, models: _, ...entry } = draftOf(values)
      return { id, entry }
    },
    save: (values) => add(draftOf(values)),
  })
  const { kind } = form.values
  return (
    <FormFrame {...{ form, defaultTimeouts, onClose }}>
      <Labelled id={form.idOf('kind')} label={say.common.provider} fault={form.faults.kind}>
        <select
          {...fieldOf(form, 'kind')}
          value={kind}
          onChange={({ target: { value } }) =>
            form.change({
              ...emptyValues,
              kind: value,
              id: value === ownServer || value === '' ? '' : freeId(value, taken),
            })
          }
        >
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
          <TextField form={form} field="id" label={say.common.name} about={say.providers.nameHint} />
          {kind === ownServer ? <OwnServer form={form} /> : null}
          <KeyField form={form} brand={brands.find((each) => each.id === kind)} keysFile={keysFile} />
          {form.values.key.trim() === '' ? <KeyNote form={form} brands={brands} /> : null}
        </>
      )}
    </FormFrame>
  )
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

function KeyField({
  form,
  brand,
  keysFile,
}: {
  readonly form: ProviderForm
  readonly brand: BrandEntry | undefined
  readonly keysFile: string | undefined
}): ReactNode {
  if (brand?.keys.length === 0) return <p className="text-sm text-muted">{say.providers.needsNoKey}</p>
  const about =
    brand === undefined
      ? say.providers.suchAs(proposedVariable(form.values.id))
      : say.providers.usedIfEmpty(brand.keys.map((key) => key.variable).join(say.providers.or))
  return (
    <KeyFields
      form={form}
      keysFile={keysFile}
      about={`${about} ${say.providers.notTheKey}`}
      placeholder={brand?.keys[0]?.variable}
    />
  )
}

/** How to set the variable of the key, unless it is known to be set. */
function KeyNote({
  form: { values, looked },
  brands,
}: {
  readonly form: ProviderForm
  readonly brands: readonly BrandEntry[]
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
          line: <code>{variable}=…</code>,
          file: <code>~/.svc/keys.env</code>,
        })}
      </p>
    </Notice>
  )
}
