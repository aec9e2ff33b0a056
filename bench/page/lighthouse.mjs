// Runs Lighthouse on one page and prints JSON: `lighthouse.mjs CHROMIUM URL ROUNDS`. It simulates a mobile device: slow
// 4G and a CPU four times slower. The median round counts.
import { launch } from 'chrome-launcher'
import lighthouse from 'lighthouse'

const [chromium, url, rounds = '3'] = process.argv.slice(2)
const chrome = await launch({
  chromePath: chromium,
  chromeFlags: [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-dev-shm-usage',
  ],
  logLevel: 'silent',
})
try {
  const results = []
  for (let round = 0; round < Number(rounds); round += 1) {
    const result = await lighthouse(url, {
      port: chrome.port,
      output: 'json',
      logLevel: 'silent',
      onlyCategories: ['performance', 'accessibility', 'best-practices'],
    })
    const { categories, audits } = result.lhr
    const score = (name) => Math.round((categories[name].score ?? 0) * 100)
    const failed = Object.values(categories)
      .flatMap(({ auditRefs }) => auditRefs)
      .filter(({ id, weight }) => weight > 0 && audits[id].score !== null && audits[id].score < 0.9)
      .map(({ id }) => id)
    results.push({
      performance: score('performance'),
      accessibility: score('accessibility'),
      bestPractices: score('best-practices'),
      firstPaintMs: Math.round(audits['first-contentful-paint'].numericValue),
      largestPaintMs: Math.round(audits['largest-contentful-paint'].numericValue),
      blockingMs: Math.round(audits['total-blocking-time'].numericValue),
      shift: audits['cumulative-layout-shift'].numericValue,
      failed,
    })
  }
  results.sort((a, b) => a.performance - b.performance)
  console.log(JSON.stringify(results[Math.floor(results.length / 2)]))
} finally {
  chrome.kill()
}
