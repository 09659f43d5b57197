import type { Scenario } from '../scenario.ts'

export const http: Scenario = {
  name: 'http',
  title: 'drain, worker over HTTP',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl'],
  note: 'a gateway and a worker, a process each; Node CPU is that of both',
  async run(stage, size) {
    const gateway = stage.actor()
    const url = await gateway.ask({ op: 'serve', url: stage.url })
    return stage.fillAndDrain(size, { url, besides: [gateway] })
  },
}
