export {
  after,
  after as afterAll,
  afterEach,
  before,
  before as beforeAll,
  beforeEach,
  describe,
  it,
  test,
} from "node:test";
