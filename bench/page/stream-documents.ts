const prose =
  'A gateway stands between callers and providers, and **a provider that fails is replaced** by the next one of the ' +
  'list before its caller sees it; see the [notes](https://example.com/notes?a=1&b=2) and `retry-after`. '
const words = (
  'time model answer token stream provider failure latency request upstream ' +
  'first second order cost limit while before after between under'
).split(' ')

/** Documents to stream, by name, each of about this number of characters. */
export const documents: Readonly<Record<string, (characters: number) => string>> = {
  realistic: (characters) => repeat(characters, section),
  code: (characters) => `\`\`\`typescript\n${repeat(characters - 500, codeLine)}\`\`\`\n`,
  list: (characters) => repeat(characters, (index) => `- item ${index} with *some* ${sentence(index, 6)}\n`),
  paragraph: (characters) => repeat(characters, () => prose),
  line: (characters) => 'QmFzZTY0'.repeat(characters / 8),
  table: (characters) =>
    '| Name | Value | What it is |\n|:--|--:|:-:|\n' +
    repeat(characters, (index) => `| \`name-${index}\` | ${index * 37} | ${sentence(index, 5)} |\n`),
  formulas: (characters) => repeat(characters, (index) => mathSection(index, Math.floor(characters / 20))),
  'code in a list': (characters) =>
    [
      '1. Do this:\n\n   ```python\n',
      repeat(characters - 500, (index) => `   value_${index} = compute(${index}, "text")  # ${sentence(index, 4)}\n`),
      '   ```\n',
    ].join(''),
  quote: (characters) => repeat(characters, (index) => `> ${sentence(index, 14)}\n${index % 4 === 3 ? '>\n' : ''}`),
  'small blocks': (characters) => repeat(characters, (index) => `${sentence(index, 3)}\n\n`),
  hostile: (characters) =>
    repeat(characters, (index) => (['*_a', '[a](', '<a ', '**a*b', '`a``', '> '][index % 6] ?? '').repeat(500)),
  'code on one line': (characters) => `\`\`\`json\n${'{"a":[1,2,"three"]},'.repeat(characters / 20)}\n\`\`\`\n`,
}

function tableRow(index: number, row: number): string {
  return `| ${sentence(row + index, 2)} | ${row * 113} ms | $0.${row}${index % 10} |\n`
}

function repeat(characters: number, part: (index: number) => string): string {
  let text = ''
  for (let index = 0; text.length < characters; index += 1) text += part(index)
  return text
}

function sentence(seed: number, length: number): string {
  return Array.from({ length }, (_, index) => words[(seed * 7 + index * 5) % words.length]).join(' ')
}

function codeLine(index: number): string {
  return (
    [
      `export function compute${index}(value: number, options: Options = {}): number {\n`,
      `  // ${sentence(index, 8)}\n`,
      `  const result = value * ${index} + Math.max(options.limit ?? 0, \`text \${value}\`.length)\n`,
      '  return result\n',
      '}\n\n',
    ][index % 5] ?? ''
  )
}

/** A part with 5 formulas and 2 blocks of code. */
function mathSection(index: number, characters: number): string {
  const start = `## ${index + 1}. ${sentence(index, 4)}

With $x_{${index}} \\in \\mathbb{R}$ and \\(f(x) = \\sqrt{x^2 + ${index}}\\),
${sentence(index, 12)}, where $a_i \\le b_i$.

$$
\\int_0^{${index}} e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2} \\operatorname{erf}(${index})
$$

\\[
\\begin{aligned}
  (a + b)^2 &= a^2 + 2ab + b^2 \\\\
  A &= \\begin{pmatrix} a_{11} & a_{12} \\\\ a_{21} & a_{22} \\end{pmatrix} + \\sum_{k=1}^{n} \\frac{x^k}{k!}
\\end{aligned}
\\]

\`\`\`typescript
${Array.from({ length: 12 }, (_, line) => codeLine(line + index * 20)).join('')}\`\`\`

\`\`\`python
def value_${index}(x):
    return compute(x, "text")  # ${sentence(index, 4)}
\`\`\`

`
  return `${start}${prose.repeat(Math.max(1, Math.ceil((characters * 2 - start.length) / prose.length)))}\n\n`
}

function section(index: number): string {
  return `## ${index + 1}. ${sentence(index, 4)}

${prose.repeat(3)}

${sentence(index, 20)}, and so on.

- ${sentence(index, 8)}
- **${sentence(index + 1, 2)}**: ${sentence(index + 2, 12)}
  1. ${sentence(index + 3, 6)}
  2. ${sentence(index + 4, 6)}
- [x] ${sentence(index + 5, 5)}

| Provider | First token | Cost |
|:--|--:|--:|
${Array.from({ length: 6 }, (_, row) => tableRow(index, row)).join('')}
> ${sentence(index, 24)}

\`\`\`typescript
${Array.from({ length: 20 }, (_, line) => codeLine(line + index * 20)).join('')}\`\`\`

`
}
