import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { processorMs } from '../../src/base/testing.ts'
import { noDefinitions } from './definitions.ts'
import { plainText, type Inline } from './inline.ts'
import { readInline } from './read-inline.ts'
import { markdownText, outlineInlines } from './testing.ts'

const definitions = new Map([
  ['k', 'https://k.example/'],
  ['two words', 'https://two.example/'],
  ['a]', 'https://bracket.example/'],
])

/** Formats emphasis as `{e …}`, strong `{s …}`, deleted `{d …}`, a break `{/}`, a link `{→address …}`. */
function read(text: string): string {
  return outlineInlines(readInline(text, definitions))
    .replaceAll('{emphasis ', '{e ')
    .replaceAll('{strong ', '{s ')
    .replaceAll('{deleted ', '{d ')
    .replaceAll('{break}', '{/}')
    .replaceAll('{http', '{→http')
    .replaceAll('{mailto', '{→mailto')
}

// Each case tests a rule of the specification with an example of our own (CommonMark 0.31, chapter 6; GFM, sections
// 6.5 and 6.9).
describe('emphasis', () => {
  test.each([
    ['1: `*` opens before a character other than a space', 'x *one two* y', 'x {e one two} y'],
    ['1: not before a space', 'x * one* y', 'x * one* y'],
    ['1: not after a letter before punctuation', 'x*"one"*', 'x*"one"*'],
    ['1: not before a wide space', '*\u00A0one *', '*\u00A0one *'],
    ['1: within words', 'un*frigging*believable 5*6*7', 'un{e frigging}believable 5{e 6}7'],
    ['2: `_` opens before a character other than a space', '_one two_', '{e one two}'],
    [
      '2: not within words, in any script',
      'snake_case_name пристань_стоп_ 5_6_7',
      'snake_case_name пристань_стоп_ 5_6_7',
    ],
    ['2: not after a letter, before punctuation', 'x_"one"_', 'x_"one"_'],
    ['2: after punctuation', 'one-_(two)_', 'one-{e (two)}'],
    ['3: `*` does not close after a space', '*one two *', '*one two *'],
    ['3: nor after punctuation, before a letter', '*(*one)', '*(*one)'],
    ['3: within emphasis', '*(*one*)*', '{e ({e one})}'],
    ['4: `_` does not close after a space', '_one two _', '_one two _'],
    ['4: nor within a word', '_one_two', '_one_two'],
    ['4: but before punctuation', '_(one)_.', '{e (one)}.'],
    ['5: `**` opens strong', '**one two**', '{s one two}'],
    ['5: not before a space', '** one**', '** one**'],
    ['with Japanese punctuation', '**マークダウン（Markdown）**は', '{s マークダウン（Markdown）}は'],
    [
      'with Chinese punctuation',
      '这是**“重置”模式**。**注意：**请*“先”*备份',
      '这是{s “重置”模式}。{s 注意：}请{e “先”}备份',
    ],
    ['with a Korean particle', '**스크립트(script)**라고', '{s 스크립트(script)}라고'],
    ['not within Chinese words by `_`', '这_是_的', '这_是_的'],
    ['5: within words', 'un**frigging**believable', 'un{s frigging}believable'],
    ['6: `__` opens strong', '__one two__', '{s one two}'],
    ['6: not within words', 'a__b__c __init__.py', 'a__b__c {s init}.py'],
    ['6: after punctuation', 'one-__(two)__', 'one-{s (two)}'],
    ['7: `**` does not close after a space', '**one two **', '**one two **'],
    ['7: over lines, with emphasis in it', '**one (*two\nthree*, four)**', '{s one ({e two\nthree}, four)}'],
    ['7: before letters', '**one**two', '{s one}two'],
    ['8: `__` does not close within a word', '__one__two', '__one__two'],
    ['8: but before punctuation', '__(one)__.', '{s (one)}.'],
    [
      '9: contents of emphasis',
      '*one [two](https://a.example) **three***',
      '{e one {→https://a.example/ two} {s three}}',
    ],
    ['9: of two lengths, whose sum is a multiple of three', '*one**two**three*', '{e one{s two}three}'],
    ['9: where they are not next to each other', 'one**two*three**four', 'one{s two*three}four'],
    ['9: where both are of a length of three', 'one***two***three', 'one{e {s two}}three'],
    ['9: nothing within', '** is empty, **** is empty', '** is empty, **** is empty'],
    ['10: contents of strong', '**one *two **three** four* five**', '{s one {e two {s three} four} five}'],
    ['11: a `*` in it', 'one *\\** two *_*', 'one {e *} two {e _}'],
    ['11: too many at the beginning', '**one*', '*{e one}'],
    ['11: too many at the end', '*one****', '{e one}***'],
    ['12: a `_` in it', 'one _\\__ two _*_', 'one {e _} two {e *}'],
    ['12: too many at the beginning', '__one_', '_{e one}'],
    ['12: too many at the end', '_one____', '{e one}___'],
    ['13: two are strong, not twice emphasis', '**one** __two__', '{s one} {s two}'],
    ['13: of two characters both', '*_one_* _*two*_', '{e {e one}} {e {e two}}'],
    ['13: four are strong twice', '****one****', '{s {s one}}'],
    ['14: three are strong in emphasis', '***one*** _____two_____', '{e {s one}} {e {s {s two}}}'],
    ['15: the first closer wins', '*one _two* three_', '{e one _two} three_'],
    ['15: also of strong', '*one __two *three four__ five*', '{e one {s two *three four} five}'],
    ['16: the nearest opener wins', '**one **two three**', '**one {s two three}'],
    ['16: also of one', '*one *two three*', '*one {e two three}'],
    ['17: links go before', '*[one*](https://a.example)', '*{→https://a.example/ one*}'],
    ['17: HTML goes before', '**<a href="**">', '**<a href="**">'],
    [
      '17: addresses in angle brackets go before',
      '__a <https://a.example/?q=__>',
      '__a {→https://a.example/?q=__ https://a.example/?q=__}',
    ],
    ['17: code goes before', '*one `*`', '*one {code *}'],
    ['signs are punctuation', 'x*£*one *€*.', 'x*£*one {e €}.'],
    ['a character of two units is one', '*𝒜*b a*𝒜* **😀** 1*😀* *2😀*b', '{e 𝒜}b a{e 𝒜} {s 😀} 1*😀* *2😀*b'],
  ])('%s', (_rule, text, expected) => {
    expect(read(text)).toBe(expected)
  })
})

describe('strikethrough', () => {
  test.each([
    ['one or two tildes', '~one~ ~~two~~ un~~frigging~~believable', '{d one} {d two} un{d frigging}believable'],
    ['not one tilde of a range', '5~7, 100~200 (1~3) 喵呜~这就来呦~ ~a~', '5~7, 100~200 (1~3) 喵呜~这就来呦~ {d a}'],
    ['beside Chinese', '这是~~“删除”~~的词', '这是{d “删除”}的词'],
    ['three are text', '~~~one~~~ a ~~~two~~~', '~~~one~~~ a ~~~two~~~'],
    ['as many close as open', '~~one~ two~ three~~', '{d one~ two~ three}'],
    ['not around spaces', '~~ one ~~ 5 ~ 6 ~ 7', '~~ one ~~ 5 ~ 6 ~ 7'],
    ['in emphasis and around it', '**~~one~~**two ~~*three*~~', '{s {d one}}two {d {e three}}'],
    ['the first closer wins', '*one ~~two* three~~', '{e one ~~two} three~~'],
  ])('%s', (_rule, text, expected) => {
    expect(read(text)).toBe(expected)
  })
})

describe('code', () => {
  test.each([
    [
      'one space at each end is taken away',
      '`` `one` `` ` two ` `  three  `',
      '{code `one`} {code two} {code  three }',
    ],
    ['but not of spaces only, nor at one end', '` ` `  ` ` one`', '{code  } {code   } {code  one}'],
    ['only spaces are', '`\u00A0one\u00A0`', '{code \u00A0one\u00A0}'],
    ['lines end as spaces', '`one\ntwo  \nthree`', '{code one two   three}'],
    ['nothing is escaped in it', '`one\\`two`', '{code one\\}two`'],
    ['as many close as open', '`one``two` ```three`` four```', '{code one``two} {code three`` four}'],
    ['an unclosed run is text', '```one`` *two*', '```one`` {e two}'],
    ['an escaped back-tick opens nothing', '\\`one` two`', '`one{code  two}'],
    [
      'it goes before links, HTML and addresses',
      '[one`](k)` `<a href="`"> <https://a.example/`b`>',
      '[one{code ](k)} {code <a href="}"> {→https://a.example/%60b%60 https://a.example/`b`}',
    ],
    ['references stay', '`&amp;`', '{code &amp;}'],
  ])('%s', (_rule, text, expected) => {
    expect(read(text)).toBe(expected)
  })
})

describe('links', () => {
  test.each([
    [
      'with titles of three kinds',
      '[a](https://b.example "c") [a](https://b.example \'c\') [a](https://b.example (c))',
      '{→https://b.example/ a} {→https://b.example/ a} {→https://b.example/ a}',
    ],
    ['with white space, and a line', '[a](  https://b.example\n  "c \\" d"  )', '{→https://b.example/ a}'],
    ['a title is after white space', '[a](<https://b.example>"c")', '[a]({→https://b.example/ https://b.example}"c")'],
    ['a title ends', '[a](https://b.example "c" d")', '[a]({→https://b.example/ https://b.example} "c" d")'],
    ['a destination has no spaces', '[a](b c)', '[a](b c)'],
    ['but in angle brackets', '[a](<b c>) [d](<e\nf>) [g](<h\\>i>)', 'a (b c) [d](<e\nf>) g (h>i)'],
    ['an opening angle bracket needs a closing one', '[a](<b)c', '[a](<b)c'],
    [
      'parentheses are balanced, or escaped',
      '[a](https://b.example/c(d(e)f)) [g](h\\)i) [j](k(l)',
      '{→https://b.example/c(d(e)f) a} g (h)i) [j](k(l)',
    ],
    [
      'parentheses are not nested without end',
      `[a](${'('.repeat(40)}b${')'.repeat(40)})`,
      `[a](${'('.repeat(40)}b${')'.repeat(40)})`,
    ],
    [
      'escapes and references in a destination',
      '[a](https://b.example/\\*&amp;\\&amp;)',
      '{→https://b.example/*&&amp; a}',
    ],
    ['a parenthesis stands right after', '[a] (https://b.example)', '[a] ({→https://b.example/ https://b.example})'],
    [
      'brackets in the text are balanced, or escaped',
      '[a [b] c](https://d.example) [e\\]](https://f.example) [g] h](https://i.example)',
      '{→https://d.example/ a [b] c} {→https://f.example/ e]} [g] h]({→https://i.example/ https://i.example})',
    ],
    ['links do not nest; the inner one wins', '[a [b](https://c.example) d](e)', '[a {→https://c.example/ b} d](e)'],
    [
      'nor in emphasis in another',
      '[a *b [c](https://d.example) e* f](g) [h](https://i.example)',
      '[a {e b {→https://d.example/ c} e} f](g) {→https://i.example/ h}',
    ],
    [
      'an image may have one in its text',
      '![a [b](https://c.example) d](https://e.example)',
      '{→https://e.example/ a b (https://c.example) d}',
    ],
    ['an exclamation mark may stand before one', '\\![a](https://b.example)', '!{→https://b.example/ a}'],
    ['marks do not cross its brackets', '*a [b* c](https://d.example)', '*a {→https://d.example/ b* c}'],
    [
      'by label, in any case and spacing',
      '[a][Two\n WORDS] ![b][k] [two  words][]',
      '{→https://two.example/ a} {→https://k.example/ b} {→https://two.example/ two  words}',
    ],
    ['a label has no brackets', '[a][b[k]] [[k]]', '[a][b{→https://k.example/ k}] [{→https://k.example/ k}]'],
    [
      'the text after a label decides',
      '[k][none] [k](none) [k] [k]',
      '[k][none] k (none) {→https://k.example/ k} {→https://k.example/ k}',
    ],
    ['an invalid destination leaves a label', '[k](not a link)', '{→https://k.example/ k}(not a link)'],
    ['the last two of three labels', '[none][none][k]', '[none]{→https://k.example/ none}'],
  ])('%s', (_rule, text, expected) => {
    expect(read(text)).toBe(expected)
  })
})

describe('addresses', () => {
  test.each([
    [
      'in angle brackets, of any scheme; refused ones stay text',
      '<HTTP://A.example> <made-up-scheme:b> vector<std::string>',
      '{→http://a.example/ HTTP://A.example} <made-up-scheme:b> vector<std::string>',
    ],
    [
      'in angle brackets, without spaces or escapes',
      '<https://a.example/b c> <https://a.example/?\\*>',
      '<{→https://a.example/b https://a.example/b} c> {→https://a.example/?\\* https://a.example/?\\*}',
    ],
    [
      'mailboxes in angle brackets',
      '<a.b+c@d-e.example> <a\\+@b.example> <@b.example>',
      '{→mailto:a.b+c@d-e.example a.b+c@d-e.example} <a+@b.example> <@b.example>',
    ],
    [
      'in the text, after spaces or marks',
      'www.a.example **https://b.example** (http://c.example) xhttps://d.example xwww.e.example',
      '{→http://www.a.example/ www.a.example} {s {→https://b.example/ https://b.example}} ' +
        '({→http://c.example/ http://c.example}) xhttps://d.example xwww.e.example',
    ],
    [
      'without the punctuation behind them',
      'https://a.example/b.c?! https://a.example/b,c, "https://a.example/d":',
      '{→https://a.example/b.c https://a.example/b.c}?! {→https://a.example/b,c https://a.example/b,c}, ' +
        '"{→https://a.example/d https://a.example/d}":',
    ],
    [
      'with balanced parentheses',
      '(https://a.example/b_(c)) (https://a.example/d)) https://a.example/(e)?f=(g)',
      '({→https://a.example/b_(c) https://a.example/b_(c)}) ({→https://a.example/d https://a.example/d})) ' +
        '{→https://a.example/(e)?f=(g) https://a.example/(e)?f=(g)}',
    ],
    [
      'without a reference behind them',
      'https://a.example/?b=c&lt; https://a.example/?b=c&d=e;',
      '{→https://a.example/?b=c https://a.example/?b=c}< {→https://a.example/?b=c&d=e https://a.example/?b=c&d=e};',
    ],
    [
      'up to `<`',
      'https://a.example/b<c https://a.example/d<br>e',
      '{→https://a.example/b https://a.example/b}<c {→https://a.example/d https://a.example/d}{/}e',
    ],
    [
      'with marks in them',
      'https://a.example/*b*_c_~d~`e',
      '{→https://a.example/*b*_c_~d~%60e https://a.example/*b*_c_~d~`e}',
    ],
    [
      'up to the marks around them',
      '**https://a.example/b**c ~~www.d.example~~.',
      '{s {→https://a.example/b https://a.example/b}}c {d {→http://www.d.example/ www.d.example}}.',
    ],
    [
      'up to the brackets around them',
      '[see https://a.example/b] [www.c.example][k]',
      '[see {→https://a.example/b https://a.example/b}] {→https://k.example/ www.c.example} (k.example)',
    ],
    [
      'up to the punctuation of Chinese and Japanese',
      '见https://a.example/路。然后（https://b.example）',
      '见{→https://a.example/%E8%B7%AF https://a.example/路}。然后（{→https://b.example/ https://b.example}）',
    ],
    [
      'up to quotation marks, an ellipsis and a wave',
      '“https://a.example/b” https://a.example/b… https://a.example/b～',
      ['”', '…', '～']
        .map((mark) => `{→https://a.example/b https://a.example/b}${mark}`)
        .join(' ')
        .replace(/^/, '“'),
    ],
    [
      'hosts of this machine and with ports',
      'http://localhost:8080/a http://[::1]/',
      '{→http://localhost:8080/a http://localhost:8080/a} http://[::1]/',
    ],
    ['none without a host', 'https:// www. http://* https://?', 'https:// www. http://* https://?'],
    [
      'mailboxes in the text',
      'a.b+c_d@e-f.example, g@h.example. i@j k@l.example- m@n.example_ @o.example',
      '{→mailto:a.b+c_d@e-f.example a.b+c_d@e-f.example}, {→mailto:g@h.example g@h.example}. i@j k@l.example- ' +
        'm@n.example_ @o.example',
    ],
    [
      'mailboxes in emphasis, and not where an at sign is escaped',
      '*a@b.example* _c@d.example_ e\\@f.example',
      '{e {→mailto:a@b.example a@b.example}} {e {→mailto:c@d.example c@d.example}} e@f.example',
    ],
    ['no mailbox in a path', '/a@b.example c/d@e.example', '/a@b.example c/d@e.example'],
    [
      'none in a link',
      '[see https://k.example a@b.example <c@d.example>][k]',
      '{→https://k.example/ see https://k.example a@b.example c@d.example}',
    ],
  ])('%s', (_rule, text, expected) => {
    expect(read(text)).toBe(expected)
  })
})

describe('formulas', () => {
  test.each([
    ['between dollars', 'a $x^2$, $y$-axis, the $n$th', 'a {formula x^2}, {formula y}-axis, the {formula n}th'],
    ['between two dollars', 'a $$x$$ b', 'a {display formula x} b'],
    ['between escaped brackets', '\\(x\\) \\[ y \\]', '{formula x} {display formula  y }'],
    ['over lines', '$a\n+ b$', '{formula a\n+ b}'],
    ['whose content is not Markdown', '$a*b*c_d_ \\# <br>$', '{formula a*b*c_d_ \\# <br>}'],
    ['with escaped dollars', '$5\\$ + x$ \\(\\$\\)', '{formula 5\\$ + x} {formula \\$}'],
    ['with line breaks in brackets', '\\[a \\\\[2pt] b\\]', '{display formula a \\\\[2pt] b}'],
    ['with dollars within two', '$$\\text{$a$}$$', '{display formula \\text{$a$}}'],
    ['of numbers', '$5 + 10$ $3 = 3$ $10$', '{formula 5 + 10} {formula 3 = 3} {formula 10}'],
    ['in emphasis and links', '*$a$* [$b$](https://c.example)', '{e {formula a}} {→https://c.example/ {formula b}}'],
  ])('are %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test.each([
    ['amounts', '$5 and $10, or $5-$10, $20,000 to $30,000.', '$5 and $10, or $5-$10, $20,000 to $30,000.'],
    ['currencies', 'US$ 5, CA$5 and 5$ or 6$.', 'US$ 5, CA$5 and 5$ or 6$.'],
    ['variables', 'the $HOME and `$PATH` of `$USER`', 'the $HOME and {code $PATH} of {code $USER}'],
    ['ranges of amounts', '$5 … 10$, $1,000 to 2,000$, $5 bis 10$', '$5 … 10$, $1,000 to 2,000$, $5 bis 10$'],
    ['two variables', '$PATH:$HOME/bin $PATH$HOME ${A}:${B}', '$PATH:$HOME/bin $PATH$HOME ${A}:${B}'],
    ['dollars with spaces inside', '$ a$ $b $', '$ a$ $b $'],
    ['escaped dollars', '\\$a\\$ $b\\$', '$a$ $b$'],
    ['marks without an end', '$a $$b \\(c \\[d', '$a $$b (c [d'],
    ['more dollars', '$$$a$$$ $$b$$$', '$$$a$$$ $$b$$$'],
    [
      'escaped brackets of a link',
      '\\[a\\](https://b.example)',
      '[a](https://b.example)'.replace(/h.*e(?=\))/, '{→$&/ $&}'),
    ],
    ['marks without content', '$$ $$ \\(\\) \\[ \\]', '$$ $$ () [ ]'],
    ['marks in code', '`$a$`', '{code $a$}'],
  ])('are not %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })

  test('are at most 4,000 characters long', () => {
    expect(read(`$${'a'.repeat(4_000)}$`)).toStartWith('{formula')
    expect(read(`$${'a'.repeat(4_001)}$`)).toStartWith('$a')
  })

  test('are their source in plain text', () => {
    expect(plainText(readInline('*a* $b$ \\[c\\]', definitions))).toBe('a $b$ \\[c\\]')
  })
})

describe('elements of HTML', () => {
  test.each([
    ['known ones', 'H<sub>2</sub>O x<SUP>*2*</SUP> <kbd>Ctrl</kbd>', 'H{sub 2}O x{sup {e 2}} {kbd Ctrl}'],
    ['those that mean emphasis', '<b>a</b> <strong>b</strong> <i>c</i> <em>d</em>', '{s a} {s b} {e c} {e d}'],
    ['those with links', '<sub>[a](https://b.example)</sub>', '{sub {→https://b.example/ a}}'],
    [
      'but no link in a link',
      '[<b>[a](https://b.example)</b>](https://c.example)',
      '{→https://c.example/ {s a (https://b.example)}}',
    ],
    ['not with attributes', '<sub onclick="a()">b</sub>', '<sub onclick="a()">b</sub>'],
    ['not others', '<script>a</script> <u>b</u>', '<script>a</script> <u>b</u>'],
    ['not without an end', '<sub>a *b* <kbd>', '<sub>a {e b} <kbd>'],
    ['not within each other', '<sub>a <sup>b</sup></sub>', '<sub>a {sup b}</sub>'],
    ['not crossed', '<sub>a</sup>', '<sub>a</sup>'],
    ['not in code', '`<sub>a</sub>`', '{code <sub>a</sub>}'],
  ])('are %s', (_name, text, expected) => {
    expect(read(text)).toBe(expected)
  })
})

describe('marks of footnotes', () => {
  const notes = new Map([
    ['^1', '1'],
    ['^two', 'Two'],
  ])
  test.each([
    ['defined', 'a[^1], b[^TWO].', 'a{footnote 1}, b{footnote Two}.'],
    ['not undefined', 'a[^3] [^ 1] [^]', 'a[^3] [^ 1] [^]'],
    ['not escaped, or in code', '\\[^1] `[^1]`', '[^1] {code [^1]}'],
    ['within a link', '[a[^1]](https://b.example)', '{https://b.example/ a{footnote 1}}'],
  ])('are %s', (_name, text, expected) => {
    expect(outlineInlines(readInline(text, notes))).toBe(expected)
  })
})

describe('the rest of running text', () => {
  test.each([
    [
      'all punctuation of ASCII can be escaped',
      '\\!\\"\\#\\$\\%\\&\\\'\\(\\)\\*\\+\\,\\-\\.\\/\\:\\;\\<\\=\\>\\?\\@\\]\\\\\\[\\^\\_\\`\\{\\|\\}\\~',
      '!"#$%&\'()*+,-./:;<=>?@]\\[^_`{|}~',
    ],
    ['nothing else can', '\\a\\ \\3\\«\\\t\\', '\\a\\ \\3\\«\\\t\\'],
    ['escaped characters are not marks', '\\*a* \\[k] \\<br> \\&amp; \\\\*b* \\`c`', '*a* [k] <br> &amp; \\{e b} `c`'],
    ['references are text', '&#42;a&#42; &lsqb;k] &lt;br>', '*a* &lsqb;k] <br>'],
    ['two spaces or a backslash break a line', 'a  \nb     \n   c\\\nd', 'a{/}b{/}c{/}d'],
    ['one space does not', 'a \n b', 'a\nb'],
    ['in emphasis, not in code or HTML', '*a  \nb* `c  \nd` <a b="  \n">', '{e a{/}b} {code c   d} <a b="  \n">'],
    [
      'HTML is tags',
      '<a/><b2/><c d=e f=\'*g*\' _h:.-i="*j*"\n/></k > <33> <a h*#ref="*b*"> <a href=\'*c*\'*d*>',
      '<a/><b2/><c d=e f=\'*g*\' _h:.-i="*j*"\n/></k > <33> <a h*#ref="{e b}"> <a href=\'{e c}\'{e d}>',
    ],
    [
      'HTML is comments, instructions, declarations and data',
      '<!--> *a* <!---> *b* <!-- *c*\n-- d --> <?e *f* ?> <!G *h*> <![CDATA[*i*]]>',
      '<!--> {e a} <!---> {e b} <!-- *c*\n-- d --> <?e *f* ?> <!G *h*> <![CDATA[*i*]]>',
    ],
    ['what does not end is text', '<!-- *a* <? *b* <a c="*d*', '<!-- {e a} <? {e b} <a c="{e d}'],
  ])('%s', (_rule, text, expected) => {
    expect(read(text)).toBe(expected)
  })
})

describe('a hostile text', () => {
  test.each(['**a ', '*a _b ', '~~a *b '])(
    'of %p over and over is nested to some depth, and the rest is shown as written',
    (opening) => {
      const closing = [...opening.trim()].toReversed().join('').replace(/[a-z]/g, 'c'),
        inlines = readInline(opening.repeat(40) + closing.repeat(40), noDefinitions)
      expect(depthOf(inlines)).toBe(16)
      expect(plainText(inlines).match(/[abc]/g)?.length).toBe(80 * (opening.length > 4 ? 2 : 1))
      expect(plainText(inlines)).toContain(opening.trim())
    },
  )

  test('never fails', () => {
    const anything = fc.oneof(
      markdownText,
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({ unit: fc.constantFrom(...marks), maxLength: 40 }),
    )
    fc.assert(
      fc.property(anything, (text) =>
        expect(plainText(readInline(text, definitions)).length).toBeLessThan(20 * text.length + 20),
      ),
      { numRuns: 1_000 },
    )
  })

  test('loses nothing but its marks', () => {
    const text = fc
      .array(fc.constantFrom(...marks, ...words, ...words), { maxLength: 40 })
      .map((parts) => parts.join('').replaceAll('](', '] ('))
    fc.assert(
      fc.property(text, (written) =>
        expect(withoutMarks(plainText(readInline(written, noDefinitions)))).toBe(withoutMarks(written)),
      ),
      { numRuns: 2_000 },
    )
  })

  // 100,000 characters take up to 0.1 s; quadratic time would take more than 10 s.
  test.each([
    '[',
    '![',
    '](',
    '[a](b',
    '[a](<b',
    '[a](b "',
    '[a](b (\\',
    '[a](b "\' ',
    '[a](((',
    '[a][k]',
    '[a][',
    '[a]',
    '][',
    '[[a](b)',
    '![[a](b)',
    '*',
    '_',
    '*a ',
    'a*',
    '**a',
    '*_',
    '*_a',
    '**a**b',
    'a**b*c***',
    '~~a ',
    '~a~~b',
    '`',
    '`a',
    '``a`',
    '\\`',
    '<',
    '<a ',
    '<a b=',
    '<a b="',
    '<a b=" c=\'',
    '<a b   ',
    '<!--',
    '<?',
    '<!A',
    '<![CDATA[',
    '<a@',
    '<a:',
    '\\',
    '&',
    '&#',
    '&a',
    'a@',
    'a@b.',
    'a@b.c_',
    'www.',
    'www.a',
    'www._',
    'http://',
    'https://a)',
    'https://a&b;',
    '[https://a',
    '*https://a',
    ' ',
    '  \n',
    '\n ',
    '😀*',
  ])('of %p over and over is read in linear time', (part) => {
    const text = part.repeat(Math.ceil(100_000 / part.length))
    expect(processorMs(() => void readInline(text, definitions))).toBeLessThan(1_000)
  })

  test.each([
    [
      'runs of back-ticks, each longer than the one before',
      Array.from({ length: 2_000 }, (_, index) => '`'.repeat(index)).join('a'),
    ],
    [
      'runs of back-ticks, each shorter',
      Array.from({ length: 2_000 }, (_, index) => '`'.repeat(2_000 - index)).join('a'),
    ],
    ['runs of stars, each longer', Array.from({ length: 440 }, (_, index) => '*'.repeat(index)).join('a')],
    ['HTML that does not end', '<?'.repeat(250_000)],
    ['brackets within brackets', '['.repeat(33_000) + '](b)'.repeat(16_000)],
    ['images within images', '!['.repeat(16_000) + '](b)'.repeat(16_000)],
    ['strong text within strong text', '**a '.repeat(12_000) + 'a** '.repeat(12_000)],
    ['much in a link', `[${'*a* `b` '.repeat(12_000)}](c)`],
    ['an address with much behind it', `https://a${')'.repeat(100_000)}`],
    ['white space in a tag', `<a b${' '.repeat(100_000)}`],
  ])('of %s is read in linear time', (_name, text) => {
    expect(processorMs(() => void readInline(text, definitions))).toBeLessThan(1_000)
  })
})

const marks = [
  '*',
  '**',
  '_',
  '__',
  '~',
  '~~',
  '`',
  '``',
  '[',
  ']',
  '![',
  '(',
  ')',
  '<',
  '>',
  '<!--',
  '-->',
  '\\',
  '!',
  '"',
  "'",
  ' ',
  ' ',
  '\n',
  '  \n',
]
const words = [
  'alpha',
  'beta',
  'é',
  '😀',
  '文',
  '1',
  'www.a.example',
  'https://b.example/c',
  'd@e.example',
  '<https://f.example>',
  '<g@h.example>',
  '<i j="k">',
  '</l>',
]

/** Characters that are not marks, and so must stay visible. */
function withoutMarks(text: string): string {
  return text.replace(/[*_~`[\]()<>\\!\s"'-]/g, '')
}

function depthOf(inlines: readonly Inline[]): number {
  return Math.max(0, ...inlines.map((inline) => ('children' in inline ? 1 + depthOf(inline.children) : 0)))
}
