import type { ReactNode } from 'react'
import type { ProvidersAnswer } from '../../src/http/page/page-api.ts'
import { rich } from '../texts/rich.tsx'
import { say } from '../texts/say.ts'
import { CopyButton } from '../ui/copy-button.tsx'

interface FileLocation {
  readonly file: string | undefined
}

const entry = '{ "id": "groq", "api_key": "$GROQ_API_KEY" },'

/** Instructions to add a provider with an editor. */
export function AddByHand({ source, file }: Pick<ProvidersAnswer, 'source'> & FileLocation): ReactNode {
  return <div className="text-sm">{source === 'file' ? <IntoFile file={file} /> : <ByKey />}</div>
}

/** Without a file a key is enough: its brand is found. */
function ByKey(): ReactNode {
  return (
    <p>
      {rich(say.providers.byKey, {
        line: <code className="font-mono">GROQ_API_KEY=…</code>,
        file: <code className="font-mono">~/.svc/keys.env</code>,
      })}
    </p>
  )
}

function IntoFile({ file = 'providers.json' }: FileLocation): ReactNode {
  return (
    <ol className="flex list-decimal flex-col gap-2 pl-5">
      <li>
        {rich(say.providers.steps.open, {
          file: <code className="font-mono [overflow-wrap:anywhere]">{file}</code>,
        })}
      </li>
      <li>
        {rich(say.providers.steps.line, { providers: <code className="font-mono">providers</code> })}{' '}
        <Lines text={entry} label={say.providers.copyLine} />
      </li>
      <li>{rich(say.providers.steps.save, { sign: <code className="font-mono">$</code> })}</li>
    </ol>
  )
}

function Lines({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  return (
    <div className="flex items-start gap-1 rounded-lg border border-line bg-raised">
      <pre tabIndex={0} className="min-w-0 flex-1 overflow-x-auto p-3 font-mono text-xs">
        {text}
      </pre>
      <CopyButton text={text} label={label} />
    </div>
  )
}
