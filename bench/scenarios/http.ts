import { type Scenario, withPlain } from '../scenario.ts'

export const http: Scenario = {
  name: 'http',
  title: 'drain, worker over HTTP',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl'],
  note: 'a gateway and a worker, a process each; Node CPU is that of both; a quarter of the jobs. pawl drains as many in process right before',
  async run(stage, size) {
    const fewer = { warm: size.warm / 4, jobs: size.jobs / 4 }
    return withPlain(
      stage,
      (empty) => empty.fillAndDrain(fewer),
      async () => {
        const gateway = stage.actor()
        const url = await gateway.ask({ op: 'serve', url: stage.url })
        return stage.fillAndDrain(fewer, { url, gateway })
      },
    )
  },
}
