import type { Scenario } from '../scenario.ts'

export const http: Scenario = {
  name: 'http',
  title: 'drain, worker over HTTP',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl'],
  note: 'a gateway and a worker, a process each; Node CPU is that of both; a quarter of the jobs',
  async run(stage, size) {
    const gateway = stage.actor()
    const url = await gateway.ask({ op: 'serve', url: stage.url })
    const fewer = { warm: size.warm / 4, jobs: size.jobs / 4 }
    return stage.fillAndDrain(fewer, { url, gateway })
  },
}
