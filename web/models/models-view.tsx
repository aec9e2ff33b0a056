import { useCallback, useEffect, useMemo, useState, type ReactNode } from 'react'
import type { ModelEntry, ProviderEntry } from '../../src/http/page/page-api.ts'
import { AnswerView } from '../app/answer-view.tsx'
import { hrefOf } from '../app/route.ts'
import { orderSteps } from '../providers/order-steps.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { Labelled, smallLook } from '../ui/labelled.tsx'
import { TrailRow } from '../ui/trail-row.tsx'
import { useReloads } from '../ui/use-answer.ts'
import { formatContext, priceRange } from './describe-model.ts'
import { FactBadge } from './model-badge.tsx'
import { badgesFrom, withKeyless, type ModelBadge } from './model-facts.ts'
import { noFilters, searchModels } from './search-models.ts'
import { useModelFacts } from './use-model-facts.ts'

const refreshMs = 30_000
/** Models that are shown at once. A search finds the others. */
const shownMax = 200

/** Every model with its providers in their order, price and context, and what keeps it from answering, for owners. */
export function ModelsView(): ReactNode {
  const { models: store } = useServices()
  const state = useStore(store.state)
  const reload = useCallback(() => void store.refresh(), [store])
  useEffect(reload, [reload])
  useReloads(reload, refreshMs)
  const answer = state.kind === 'ready' ? state.answer : undefined
  const error = state.kind === 'failed' ? state.error : state.kind === 'ready' ? state.refreshError : undefined
  return (
    <AnswerView title={say.views.models} about={say.models.about} state={{ answer, error: error?.message, reload }}>
      {({ models }) => <Models models={models} />}
    </AnswerView>
  )
}

function Models({ models }: { readonly models: readonly ModelEntry[] }): ReactNode {
  const facts = useModelFacts('all')
  const [text, setText] = useState('')
  const all = useMemo(() => withKeyless(models, facts.providers), [models, facts.providers])
  const badgesOf = useMemo(() => badgesFrom(facts), [facts])
  const states = useMemo(() => new Map(facts.providers.map((each) => [each.id, each])), [facts.providers])
  const found = useMemo(
    () => searchModels(all, { text, filters: noFilters, favourites: [], recent: [] }).map(({ entry }) => entry),
    [all, text],
  )
  return (
    <>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
        <Labelled
          label={say.models.search}
          look={{ ...smallLook, box: 'flex min-w-48 max-w-96 flex-1 flex-col gap-1' }}
        >
          {(field) => <input {...field} type="search" value={text} onChange={({ target }) => setText(target.value)} />}
        </Labelled>
        <p role="status" className="py-2 text-sm text-muted tabular-nums">
          {say.models.count(found.length)}
          {found.length > shownMax ? ` ${say.models.firstShown(shownMax)}` : ''}
        </p>
      </div>
      {found.length === 0 ? (
        <p className="rounded-xl border border-line bg-panel p-8 text-center">
          {all.length > 0
            ? say.models.noMatch
            : rich(say.models.noOffer, {
                providers: (
                  <a className="text-accent underline" href={hrefOf({ view: 'providers' })}>
                    {say.models.providers}
                  </a>
                ),
              })}
        </p>
      ) : (
        <ul className="rounded-xl border border-line bg-raised" aria-label={say.views.models}>
          {found.slice(0, shownMax).map((model) => (
            <Row key={model.name} model={model} states={states} badges={badgesOf(model)} />
          ))}
        </ul>
      )}
    </>
  )
}

/** The view in which a badge is remedied. */
const remedies: Readonly<Record<ModelBadge, string>> = {
  keyMissing: hrefOf({ view: 'providers' }),
  noPrice: hrefOf({ view: 'providers' }),
  overLimit: hrefOf({ view: 'limits' }),
}

interface RowProps {
  readonly model: ModelEntry
  readonly states: ReadonlyMap<string, ProviderEntry>
  readonly badges: readonly ModelBadge[]
}

/** A model. Its facts stand below its name where the window is narrow. */
function Row({ model, states, badges }: RowProps): ReactNode {
  const { name, offers } = model
  const context = offers.find((offer) => offer.context !== undefined)?.context
  const price = priceRange({
    offers: offers.filter(({ provider }) => states.get(provider)?.state.kind !== 'unavailable'),
  })
  return (
    <li
      className={
        'grid min-h-13 items-center gap-x-4 gap-y-1 border-t border-line px-4 py-2 text-sm first:border-t-0 ' +
        '[contain-intrinsic-size:auto_3.25rem] [content-visibility:auto] ' +
        '@4xl:grid-cols-[minmax(0,4fr)_minmax(0,4fr)_minmax(0,3fr)_6rem]'
      }
    >
      <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
        <h2 className="font-semibold [overflow-wrap:anywhere]">
          <bdi>{name}</bdi>
        </h2>
        {badges.map((fact) => (
          <a
            key={fact}
            href={remedies[fact]}
            className="inline-flex min-h-6 items-center rounded-md pointer-coarse:min-h-11"
          >
            <FactBadge fact={fact} />
          </a>
        ))}
      </div>
      <div
        className={'flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted tabular-nums @4xl:contents'}
      >
        <span className="min-w-0 @4xl:text-sm">
          <TrailRow isQuiet steps={orderSteps(name, offers, states)} />
        </span>
        <span className="empty:hidden @4xl:text-sm @4xl:empty:block">{price?.spoken}</span>
        <span className="empty:hidden @4xl:text-end @4xl:text-sm @4xl:empty:block">
          {context === undefined ? null : say.models.context(formatContext(context))}
        </span>
      </div>
    </li>
  )
}
