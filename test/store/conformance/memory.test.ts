import { prove } from './prove.ts'
import { virtualSetup } from './virtual-setup.ts'

prove({
  name: 'memory',
  cannot: {
    reopen: 'a memory store lives and dies with its process',
    transaction: 'there is no database whose transactions it could join',
  },
  async open() {
    return virtualSetup((store) => store)
  },
})
