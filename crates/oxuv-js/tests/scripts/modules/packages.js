require('./fixtures/packages/app').load();
