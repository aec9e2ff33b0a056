import { isRecord } from '../base/json-value.ts'

/*
 * The description of the API as one page without scripts: a `<details>` for each route. All of its text comes from
 * `schema/openapi.json`, and is escaped.
 */

/** The style of the page, which its content security policy names by its hash. */
export const descriptionStyle = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
details { border-top: 1px solid #8884; padding: .4rem 0 }
summary { cursor: pointer }
code, pre { font: .875rem/1.5 ui-monospace, monospace }
summary code { display: inline-block; min-width: 55%; font-weight: 600; overflow-wrap: anywhere }
pre { overflow-x: auto; padding: .75rem; background: #8881; border-radius: .5rem }
`

type Json = Readonly<Record<string, unknown>>

/** Writes the page. @param description of OpenAPI */
export function descriptionPage(description: Json): string {
  const { info, tags, paths, components } = description
  const routes = Object.entries(recordOf(paths)).flatMap(([path, methods]) =>
    Object.entries(recordOf(methods)).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation: recordOf(operation),
    })),
  )
  const sections = listOf(tags).map((tag) => {
    const own = routes.filter(({ operation }) => isIn(operation['tags'], tag['name']))
    return `<h2>${escaped(tag['name'])}</h2>\n<p>${prose(tag['description'])}</p>\n${own.map(routeHtml).join('')}`
  })
  const schemas = Object.entries(recordOf(recordOf(components)['schemas'])).map(([name, schema]) => {
    const id = escaped(name)
    return `<details id="${id}"><summary><code>${id}</code></summary>${code(schema)}</details>\n`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>API</title>
<style>${descriptionStyle}</style>
<h1>API</h1>
<p>${prose(recordOf(info)['description'])}</p>
<p>The same for programs: <a href="/openapi.json">openapi.json</a></p>
${sections.join('\n')}
<h2>Schemas</h2>
${schemas.join('')}</html>
`
}

function routeHtml({ name, operation }: { readonly name: string; readonly operation: Json }): string {
  const { summary, description, parameters, requestBody, responses } = operation
  const rows = listOf(parameters).map(
    ({ name: parameter, in: place, schema, description: said = recordOf(schema)['description'] }) =>
      `<li><code>${escaped(parameter)}</code> (${escaped(place)}) ${prose(said)}</li>`,
  )
  return `<details><summary><code>${escaped(name)}</code> ${prose(summary)}</summary>
<p>${prose(description)}</p>
${rows.length === 0 ? '' : `<ul>${rows.join('')}</ul>\n`}${contentHtml('Body', recordOf(requestBody))}${Object.entries(
    recordOf(responses),
  )
    .map(([status, response]) => contentHtml(status, recordOf(response)))
    .join('')}</details>
`
}

function contentHtml(title: string, { content, $ref }: Json): string {
  if (typeof $ref === 'string') return `<p>${escaped(title)}: ${link($ref)}</p>\n`
  const media = Object.entries(recordOf(content)).map(([type, value]) => {
    const { schema } = recordOf(value)
    const { $ref: named, type: kind, description } = recordOf(schema)
    if (typeof named === 'string') return `${escaped(type)}: ${link(named)}`
    return kind === 'string' || kind === undefined
      ? `${escaped(type)}: ${prose(description)}`
      : `${escaped(type)}${code(schema)}`
  })
  return media.map((each) => `<p>${escaped(title)}, ${each.replace('<pre>', '</p><pre>')}\n`).join('')
}

/** A link to a schema. */
function link(reference: string): string {
  const name = escaped(reference.split('/').at(-1))
  return `<a href="#${name}"><code>${name}</code></a>`
}

function code(value: unknown): string {
  return `<pre>${escaped(JSON.stringify(value, undefined, 2))}</pre>`
}

/** Text with code between backticks. */
function prose(text: unknown): string {
  return escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

function escaped(text: unknown): string {
  return Bun.escapeHTML(typeof text === 'string' ? text : '')
}

function isIn(list: unknown, value: unknown): boolean {
  return Array.isArray(list) && list.includes(value)
}

function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {}
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}
