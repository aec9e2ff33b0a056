import { JsonCursor, nameTable } from '../bytes/json-cursor.ts'
import type { Ask } from './ask.ts'

/** Top-level members with tools that run at the provider. */
const ownMembers: ReadonlySet<string> = new Set([
  ...['web_search_options', 'search_parameters', 'plugins', 'enable_search', 'mcp_servers', 'server_tools'],
])
/** Types of tools that run at the caller, in all formats. Types of Anthropic's end with a date. */
const callerTypes =
  /^(?:function|custom|namespace|tool_search|(?:local_)?shell|apply_patch|bash|text_editor|memory)(?:_|$)|^computer/
/** Members that show that a tool without a `type` runs at the caller. Without any of `names` it runs elsewhere. */
const callerMembers = ['functionDeclarations', 'function_declarations', 'computerUse', 'computer_use']
const names = nameTable(['type', 'name', 'function', 'input_schema', ...callerMembers])

/**
 * Whether a request, in any format, has tools that run at the provider. It bills what they find as a part of the
 * prompt, whose size is not known.
 */
export function hasProviderTools({ body, members, untranslated = [] }: Ask): boolean {
  return (
    // Responses may declare it in the input.
    untranslated.includes('tools.web_search') ||
    members.some(({ name, valueStart, end }) => {
      if (name === 'tools') return hasOne(new JsonCursor(body.subarray(valueStart, end)))
      return ownMembers.has(name) && isSet(body[valueStart])
    })
  )
}

/** @param first byte of a value: none of `null` and `false` */
function isSet(first: number | undefined): boolean {
  return first !== letterN && first !== letterF
}
const letterN = 0x6e
const letterF = 0x66

/** @param cursor at the tools */
function hasOne(cursor: JsonCursor): boolean {
  if (cursor.peek() !== 'array') return false
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    if (cursor.peek() !== 'object') cursor.skip()
    else if (isProviderTool(cursor)) return true
  }
  return false
}

/** Passes a tool. A repeated type counts each time. */
function isProviderTool(cursor: JsonCursor): boolean {
  let hasOther = false
  let isCallers = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const code = cursor.nameCode(names)
    const start = cursor.position
    const isText = cursor.peek() === 'string'
    cursor.skip()
    if (code === -1) hasOther = true
    else if (code !== 0) isCallers = true
    else if (isText) {
      if (!callerTypes.test(cursor.stringAt(start, cursor.position))) return true
      isCallers = true
    }
  }
  return hasOther && !isCallers
}
