// Hosts that Node's tests name. Only those that do not exist are asked for here: nothing leaves the machine.
'use strict';

module.exports = {
  addresses: {
    INET_HOST: 'localhost', INET4_HOST: '127.0.0.1', INET6_HOST: '::1', INET4_IP: '127.0.0.1', INET6_IP: '::1',
    INVALID_HOST: 'something.invalid', MX_HOST: 'something.invalid', NOT_FOUND: 'come.on.fhqwhgads.test',
    SRV_HOST: 'something.invalid', PTR_HOST: 'something.invalid', NAPTR_HOST: 'something.invalid', SOA_HOST: 'something.invalid',
    CAA_HOST: 'something.invalid', CNAME_HOST: 'something.invalid', NS_HOST: 'something.invalid', TXT_HOST: 'something.invalid',
    DNS4_SERVER: '127.0.0.1', DNS6_SERVER: '::1',
  },
};
