import { useState, type ReactNode } from 'react'
import type { ContentAnswer } from '../../src/http/page/page-api.ts'
import type { RequestEntry } from '../../src/observe/request-entry.ts'
import { ApiError } from '../api/client.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatMoment } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'

type State =
  | { readonly kind: 'hidden' | 'loading' | 'none' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'shown'; readonly content: ContentAnswer }

/**
 * The question and the answer of a request, if they are kept. They are asked for by a button, since each look at those
 * of others is recorded.
 */
export function KeptContent({ request }: { readonly request: RequestEntry }): ReactNode {
  const { boot } = useServices()
  if (boot.contentKeptMs === undefined) return <p className="text-sm text-muted">{say.content.isNotKept}</p>
  return <Content key={`${request.id} ${request.time}`} request={request} />
}

function Content({ request: { id, time, user } }: { readonly request: RequestEntry }): ReactNode {
  const { boot, client } = useServices()
  const [state, setState] = useState<State>({ kind: 'hidden' })
  const isOwn = user !== undefined && user === boot.user?.userName

  async function show(): Promise<void> {
    setState({ kind: 'loading' })
    try {
      setState({ kind: 'shown', content: await client.get<ContentAnswer>(`/api/requests/${id}/content?time=${time}`) })
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) setState({ kind: 'none' })
      else setState({ kind: 'failed', reason: messageOf(error) })
    }
  }

  return (
    <section
      aria-labelledby="content"
      className="flex flex-col gap-3 rounded-xl border border-line bg-panel p-4 text-sm"
    >
      <h2 id="content" className="font-medium">
        {say.content.title}
      </h2>
      <div role="status" className="flex flex-col gap-3">
        <Shown state={state} />
      </div>
      {state.kind === 'shown' || state.kind === 'none' ? null : (
        <div className="flex flex-wrap items-center gap-3">
          <Button disabled={state.kind === 'loading'} onClick={() => void show()}>
            {say.content.show}
          </Button>
          {isOwn ? null : <p className="text-muted">{say.content.looksAreRecorded}</p>}
        </div>
      )}
    </section>
  )
}

function Shown({ state }: { readonly state: State }): ReactNode {
  switch (state.kind) {
    case 'none':
      return <p className="text-muted">{say.content.noneOfThis}</p>
    case 'failed':
      return (
        <Notice kind="error" title={say.content.cannotBeShown}>
          {state.reason}
        </Notice>
      )
    case 'shown': {
      const { question, answer, isQuestionCut, isAnswerCut, expires } = state.content
      return (
        <>
          <Text title={say.content.question} text={question} isCut={isQuestionCut} />
          <Text title={say.common.answer} text={answer} isCut={isAnswerCut} />
          <p className="text-muted">{say.content.isDeleted(formatMoment(expires))}</p>
        </>
      )
    }
    default:
      return null
  }
}

interface TextProps {
  readonly title: string
  readonly text: string
  readonly isCut: boolean | undefined
}

function Text({ title, text, isCut }: TextProps): ReactNode {
  return (
    <div>
      <h3 className="flex items-center gap-1 font-medium">
        {title}
        {text === '' ? null : <CopyButton text={text} label={say.content.copy(title)} />}
      </h3>
      {text === '' ? (
        <p className="text-muted">{say.content.nothing}</p>
      ) : (
        <pre
          tabIndex={0}
          role="region"
          aria-label={title}
          className={
            'max-h-[32rem] overflow-auto rounded-lg border border-line bg-raised p-3 font-mono text-xs ' +
            'whitespace-pre-wrap wrap-anywhere'
          }
        >
          {text}
        </pre>
      )}
      {isCut === true ? <p className="mt-1 text-muted">{say.content.isCut}</p> : null}
    </div>
  )
}
