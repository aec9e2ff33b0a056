import type { Channel } from '../cluster/channel.ts'
import type { Circle } from '../cluster/circle.ts'
import type { HealthNews } from '../service/health-news.ts'
import { healthBook, type HealthBook } from '../service/health.ts'
import type { Notices } from '../stores/store.ts'
import type { PrimaryAnswers, WorkerAnswers } from './cluster-answers.ts'
import { shareHealth } from './health-notices.ts'

/** What the workers know of providers together. */
export interface PrimaryHealth {
  /** For newcomers, and for metrics. */
  readonly book: HealthBook
  /** What one worker may tell. */
  answersTo(worker: Channel<WorkerAnswers>): Pick<PrimaryAnswers, 'news' | 'targets'>
}

/** Tells news on: of a worker to the others and to other machines, of a machine to all workers. */
export function primaryHealth(workers: Pick<Circle<WorkerAnswers>, 'tell'>, notices: Notices): PrimaryHealth {
  const book = healthBook(() => performance.now())
  const tellMachines = shareHealth(notices, (news) => tellWorkers(news))

  function tellWorkers(news: HealthNews, teller?: Channel<WorkerAnswers>): void {
    book.hear(news)
    workers.tell('news', news, teller)
  }

  return {
    book,
    answersTo: (worker) => ({
      news(news) {
        tellWorkers(news, worker)
        tellMachines(news)
      },
      targets: book.setTargets,
    }),
  }
}
